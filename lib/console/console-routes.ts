// The console's files, as they stand: no build step. One policy for all: scripts and styles from here only, no
// frames, connections only to this origin.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Hono } from "hono";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** Path -> file. Nothing else is served. */
function files(): Record<string, string> {
  const parser = dirname(createRequire(import.meta.url).resolve("eventsource-parser"));
  const parts = ["index.js", "errors.js", "parse.js"];
  return {
    "/": join(import.meta.dirname, "console.html"),
    "/console/console.css": join(import.meta.dirname, "console.css"),
    "/console/console.js": join(import.meta.dirname, "console.js"),
    ...Object.fromEntries(parts.map((part) => [`/console/eventsource-parser/${part}`, join(parser, part)])),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: any Hono app can host it
export function mountConsole(app: Pick<Hono<any>, "get">): void {
  for (const [path, file] of Object.entries(files())) {
    const type = types[file.slice(file.lastIndexOf(".") + 1)] ?? "text/plain";
    app.get(path, (c) =>
      c.body(readFileSync(file, "utf8"), 200, { "Content-Type": type, "Content-Security-Policy": policy }),
    );
  }
}
