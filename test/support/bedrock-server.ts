// As much of the Bedrock runtime as Baton speaks: InvokeModel of Titan Text Embeddings V2, over HTTP/2 as the client does, on a
// free loopback port. The vectors are by meaning, as far as `concepts` go.
import { createServer, type Http2ServerRequest, type Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { meaningOf } from "./concepts.ts";

export type BedrockRequest = { path: string; headers: Http2ServerRequest["headers"]; body: TitanRequest };
type TitanRequest = { inputText: string; dimensions: number; normalize: boolean };

/** An error of Bedrock, a body that is none of Titan's, or a cut connection. */
export type BedrockFault = { status: number; type: string; retryAfter?: string } | { body: string } | "cut";

export type BedrockServer = {
  url: string;
  client: BedrockRuntimeClient;
  requests: BedrockRequest[];
  /** Most requests that were open at a time. */
  most(): number;
  /** Answers the next requests with these. */
  fail(...faults: BedrockFault[]): void;
  /** From now on no request is answered before `release`. */
  hold(): { held: (count: number) => Promise<void>; release: () => void };
  close(): Promise<void>;
};

export async function startBedrockServer(): Promise<BedrockServer> {
  const requests: BedrockRequest[] = [];
  const faults: BedrockFault[] = [];
  const sessions = new Set<Http2Session>();
  let [open, most] = [0, 0];
  let gate: Promise<void> = Promise.resolve();
  let arrived = () => {};

  const server = createServer(async (request, response) => {
    most = Math.max(most, ++open);
    const body = (await json(request)) as TitanRequest;
    requests.push({ path: decodeURIComponent(request.url), headers: request.headers, body });
    arrived();
    await gate;
    open--;
    const fault = faults.shift();
    if (fault === "cut") return void request.stream.session?.destroy();
    if (fault && "status" in fault) {
      response.writeHead(fault.status, {
        "content-type": "application/json",
        "x-amzn-errortype": fault.type,
        "x-amzn-requestid": "r-1",
        ...(fault.retryAfter ? { "retry-after": fault.retryAfter } : {}),
      });
      return void response.end(JSON.stringify({ message: `about "${body.inputText}"` }));
    }
    response.writeHead(200, { "content-type": "application/json" });
    const embedding = meaningOf(body.inputText, body.dimensions);
    const inputTextTokenCount = body.inputText.split(/\s+/).length;
    response.end(fault ? fault.body : JSON.stringify({ embedding, inputTextTokenCount }));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new BedrockRuntimeClient({
    endpoint: url,
    region: "eu-central-1",
    maxAttempts: 1,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  return {
    url,
    client,
    requests,
    most: () => most,
    fail: (...next) => void faults.push(...next),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return {
        held: async (count) => {
          while (requests.length < count) await new Promise<void>((seen) => (arrived = seen));
        },
        release: resolve,
      };
    },
    async close() {
      client.destroy();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
