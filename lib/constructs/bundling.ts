// How a Lambda handler becomes one small ESM bundle with the author's agent in it. Used by the construct at synth, by
// the tests that run the bundles, and by the benchmark. Reaches the handlers by path, never by import.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

export type Bundle = {
  /** Holds `index.mjs`, whose `handler` Lambda calls, and chunks that it loads when they are needed. */
  dir: string;
  /** Bytes that are loaded on a cold start: index.mjs and what it imports statically. */
  startBytes: number;
  /** Bytes of all files. */
  totalBytes: number;
  metafile: Metafile;
};

/** Bundles lambdas/`name`.ts with the agent module at `agentEntry` (absolute) into `dir`. Throws what esbuild reports. */
export async function bundleLambda(name: string, agentEntry: string, dir: string): Promise<Bundle> {
  const { metafile } = await build(bundleOptions(name, agentEntry, dir));
  const later = laterFiles(metafile);
  if (later.length > 0) {
    const entryPoints = Object.fromEntries(later.map((file) => [file, lambdaPath(`${file}.ts`)]));
    const { inputs, outputs } = (await build({ ...bundleOptions(name, agentEntry, dir), entryPoints })).metafile;
    Object.assign(metafile.inputs, inputs);
    Object.assign(metafile.outputs, outputs);
  }
  const start = [...startFiles(metafile)];
  const bytes = (files: string[]) => files.reduce((sum, file) => sum + (metafile.outputs[file]?.bytes ?? 0), 0);
  return { dir, startBytes: bytes(start), totalBytes: bytes(Object.keys(metafile.outputs)), metafile };
}

export function bundleOptions(name: string, agentEntry: string, dir: string) {
  return {
    entryPoints: { index: lambdaPath(`${name}.ts`) },
    outdir: dir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // Lets `import()` become a chunk of its own.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // The SDK's ES modules can be shaken: 340 KB where its CommonJS gives 537.
    mainFields: ["module", "main"],
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
    // For CommonJS packages that require Node's own modules.
    banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    alias: {
      "#agent": agentEntry,
      // Lambda's credentials are always in the environment; the other providers are 90 KB.
      "@aws-sdk/credential-provider-node": lambdaPath("environment-credentials.ts"),
    },
    plugins: [zodNamespace, loadedLater],
  } satisfies BuildOptions;
}

/**
 * A named import of `z` from zod makes esbuild keep all of zod with the texts of fifty languages, 440 KB; a namespace
 * import keeps what is used, about 100. Both mean the same.
 */
const zodNamespace: Plugin = {
  name: "zod-namespace",
  setup(setup) {
    setup.onLoad({ filter: /\.[mc]?tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace(/import \{ z \} from (["'])zod\1/, "import * as z from $1zod$1");
      return contents === text ? undefined : { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

/**
 * The S3 client is loaded by the few steps that meet a large payload, Bedrock's by the few turns that choose facts by meaning. They
 * are bundled apart, since a shared chunk would make everything that they need of the SDK's core part of each cold start: 40 KB.
 */
const loadedLater: Plugin = {
  name: "loaded-later",
  setup(setup) {
    setup.onResolve({ filter: /^\.\/(?:s3-blobs|bedrock-embeddings)\.ts$/ }, ({ path }) => ({
      path: path.replace(/ts$/, "mjs"),
      external: true,
    }));
  },
};

function laterFiles({ outputs }: Metafile): string[] {
  const imported = Object.values(outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return ["s3-blobs", "bedrock-embeddings"].filter((file) => imported.includes(`./${file}.mjs`));
}

function lambdaPath(file: string): string {
  return join(fileURLToPath(new URL("../../lambdas", import.meta.url)), file);
}

/** index.mjs and every file that it imports without `import()`. */
function startFiles({ outputs }: Metafile): Set<string> {
  const found = new Set<string>();
  const visit = (file: string) => {
    const output = outputs[file];
    if (!output || found.has(file)) return;
    found.add(file);
    for (const { path, kind } of output.imports) if (kind === "import-statement") visit(path);
  };
  for (const file of Object.keys(outputs)) if (basename(file) === "index.mjs") visit(file);
  return found;
}
