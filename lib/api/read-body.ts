// Bodies: read with a limit on the bytes that really come, whatever Content-Length says, and taken as JSON whatever
// Content-Type says (curl -d sends a form's). Routes get a request whose body is known to be JSON.
import type { MiddlewareHandler } from "hono";
import { InvalidInput, TooLarge } from "../core/errors.ts";
import type { ApiEnv, ApiLimits } from "./api-context.ts";

/** Takes JSON lines and reads them itself (`readLinesBody`). */
export const linesPath = "/v1/import";

/** The text of a body of JSON lines; `TooLarge` over `maxBytes`. */
export async function readLinesBody(request: Request, maxBytes: number): Promise<string> {
  const bytes = request.body ? await readBytes(request, request.body, maxBytes) : new Uint8Array();
  // Damaged bytes become lines that are no JSON, which are then reported with their place.
  return new TextDecoder().decode(bytes);
}

const bodiless = new Set(["GET", "HEAD", "OPTIONS"]);

/** An empty body counts as `{}`. Throws `TooLarge` and `InvalidInput`. */
export function readBody(limits: ApiLimits): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { raw } = c.req;
    if (!bodiless.has(raw.method) && c.req.path !== linesPath) {
      const bytes = raw.body ? await readBytes(raw, raw.body, limits.bodyBytes) : new Uint8Array();
      const text = decode(bytes);
      if (bytes.byteLength - imageBytes(parse(text)) > limits.textBytes) {
        throw new TooLarge(`the body may hold ${limits.textBytes} bytes besides its images`);
      }
      const headers = new Headers(raw.headers);
      headers.set("Content-Type", "application/json");
      headers.delete("Content-Length");
      c.req.raw = new Request(raw.url, { method: raw.method, headers, body: text, signal: raw.signal });
    }
    await next();
  };
}

async function readBytes(request: Request, body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new TooLarge(`the body may hold ${maxBytes} bytes`);
  if (Number(request.headers.get("Content-Length") ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let total = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await next(reader);
    if (done) return Buffer.concat(chunks, total);
    total += value.byteLength;
    if (total > maxBytes) {
      reader.cancel().catch(() => {});
      throw tooLarge();
    }
    chunks.push(value);
  }
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (cause) {
    throw new InvalidInput("the body ended before its end", { cause });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.trim() === "" ? "{}" : text;
  } catch (cause) {
    throw new InvalidInput("the body is not UTF-8", { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidInput("the body is not JSON", { errors: [{ path: "$", message: "not JSON" }], cause });
  }
}

/** Bytes of base64 in `content[].data`: pictures have a limit of their own. */
function imageBytes(body: unknown): number {
  const content = body && typeof body === "object" && "content" in body ? body.content : null;
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, block: unknown) => {
    const isImage = block && typeof block === "object" && "type" in block && block.type === "image";
    return isImage && "data" in block && typeof block.data === "string" ? sum + block.data.length : sum;
  }, 0);
}
