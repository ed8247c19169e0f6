// As much of S3 as Baton speaks: PutObject, GetObject and DeleteObject, path style, on a free loopback port.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { S3Client } from "@aws-sdk/client-s3";

export type S3Request = { method: string; path: string; headers: IncomingMessage["headers"] };

export type S3Server = {
  client: S3Client;
  /** Objects by `/bucket/key`; tests may damage them. */
  objects: Map<string, Buffer>;
  requests: S3Request[];
  /** Answers the next requests with this: an S3 error, a cut connection, or the first half of the object. */
  fail(...faults: Fault[]): void;
  close(): Promise<void>;
};

export type Fault = { status: number; code: string } | "cut" | "half";

export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: S3Request[] = [];
  const faults: Fault[] = [];

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://s3").pathname);
    requests.push({ method: request.method ?? "", path, headers: request.headers });
    const body = await buffer(request);
    const fault = faults.shift();
    if (fault === "cut") return request.socket.destroy();
    if (typeof fault === "object") return error(response, fault.status, fault.code);
    switch (request.method) {
      case "PUT": {
        const checksum = createHash("sha256").update(body).digest("base64");
        if (request.headers["x-amz-checksum-sha256"] !== checksum) return error(response, 400, "BadDigest");
        objects.set(path, body);
        return response.end();
      }
      case "GET": {
        const found = objects.get(path);
        if (!found) return error(response, 404, "NoSuchKey");
        response.setHeader("content-length", found.byteLength);
        if (fault !== "half") return response.end(found);
        return response.write(found.subarray(0, found.byteLength / 2), () => request.socket.destroy());
      }
      case "DELETE":
        objects.delete(path);
        response.statusCode = 204;
        return response.end();
      default:
        return error(response, 405, "MethodNotAllowed");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  return {
    client,
    objects,
    requests,
    fail: (...next) => void faults.push(...next),
    async close() {
      client.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function error(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
