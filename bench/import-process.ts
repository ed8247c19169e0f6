// Imports one module and says how long that took.
import { pathToFileURL } from "node:url";

// What Lambda's runtime provides.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });

const { file } = JSON.parse(process.argv[2] ?? "{}") as { file: string };
const start = performance.now();
await import(pathToFileURL(file).href);
process.stdout.write(`${JSON.stringify({ ms: performance.now() - start })}\n`);
process.exit(0);
