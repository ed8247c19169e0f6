// A real HTTP server that takes webhooks and answers as a test says.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export type Received = { headers: IncomingHttpHeaders; body: string };
export type Receiver = { url: string; received: Received[]; close(): Promise<void> };

/** `answer`: status of the n-th request (from 1), or "drop": the connection is closed without an answer. */
export async function startReceiver(answer: (n: number) => number | "drop" = () => 204): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const n = received.push({ headers: request.headers, body: Buffer.concat(chunks).toString("utf8") });
      const status = answer(n);
      if (status === "drop") request.socket.destroy();
      else response.writeHead(status, status === 302 ? { Location: "http://127.0.0.1:1/" } : {}).end("ignored");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
