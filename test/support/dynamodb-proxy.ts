// Stands between the client and dynalite on a loopback port: records requests, loses them or their answers, or
// answers with an error of its own.
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type ProxyFault =
  /** Closes the connection before the request is passed on. */
  | "lose request"
  /** Passes it on and closes the connection when the answer comes. */
  | "lose answer"
  | { status: number; type: string; message?: string };

export type DynamoDbProxy = {
  url: string;
  /** Operation and body of each request that came in. */
  requests: { operation: string; body: Record<string, unknown> }[];
  /** Faults of the next requests, one each. */
  fail(...faults: ProxyFault[]): void;
  close(): Promise<void>;
};

export async function startDynamoDbProxy(target: string): Promise<DynamoDbProxy> {
  const requests: DynamoDbProxy["requests"] = [];
  const faults: ProxyFault[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    requests.push({ operation, body: JSON.parse(body.toString("utf8")) });
    const fault = faults.shift();
    if (fault === "lose request") return request.socket.destroy();
    if (typeof fault === "object") {
      response.writeHead(fault.status, { "content-type": "application/x-amz-json-1.0" });
      const type = `com.amazonaws.dynamodb.v20120810#${fault.type}`;
      return response.end(JSON.stringify({ __type: type, message: fault.message ?? "planned" }));
    }
    const { method, headers } = request;
    const onward = httpRequest(target, { method, headers: { ...headers, connection: "close" } }, (answer) => {
      if (fault === "lose answer") {
        answer.resume();
        answer.on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, { ...answer.headers, connection: "keep-alive" });
      answer.pipe(response);
    });
    onward.on("error", () => request.socket.destroy());
    return onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (...next) => void faults.push(...next),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
