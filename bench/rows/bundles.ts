// Each Lambda function as it would be deployed: how large its bundle is and how long Node needs to load it.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { bundleLambda } from "../../lib/constructs/bundling.ts";
import type { Row } from "../context.ts";
import { runProcess } from "../run-process.ts";
import { median } from "../statistics.ts";

const root = resolve(import.meta.dirname, "../..");
const agent = join(root, "examples/aml-investigator/agent.ts");
/** Loads of each bundle, in a new process each. */
const times = 3;

export const bundles: Row = {
  name: "bundles",
  about: "size and load time of each Lambda bundle",
  async run(context) {
    const figures = [];
    for (const name of handlers()) {
      context.say(`bundling ${name}`);
      const bundle = await bundleLambda(name, agent, join(context.folder(), name));
      const took: number[] = [];
      for (let time = 0; time < times; time++) {
        const job = { file: join(bundle.dir, "index.mjs") };
        took.push((await runProcess<{ ms: number }>("import-process.ts", job, { env: lambdaEnvironment() })).ms);
      }
      const later = Math.round((bundle.totalBytes - bundle.startBytes) / 1000);
      figures.push(
        {
          name: `bundle ${name}`,
          value: bundle.startBytes / 1000,
          unit: "KB",
          note: `and ${later} KB loaded only when needed`,
        },
        { name: `load ${name}`, value: median(took), unit: "ms" },
      );
    }
    return figures;
  },
};

/** The files of lambdas/ that are functions. */
function handlers(): string[] {
  const folder = join(root, "lambdas");
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
  return files
    .filter((file) =>
      /^export (?:const|async function|function) handler\b/m.test(readFileSync(join(folder, file), "utf8")),
    )
    .map((file) => basename(file, ".ts"));
}

/** What a function is deployed with; nothing is called while it loads. */
function lambdaEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
    ANTHROPIC_API_KEY: "bench",
    BATON_TABLE: "bench",
    BATON_BLOBS: "bench",
    BATON_STATE_MACHINE: "arn:aws:states:us-east-1:000000000000:stateMachine:bench",
    BATON_JWKS_URL: "http://127.0.0.1/jwks.json",
    BATON_PUBLIC_URL: "http://127.0.0.1",
    BATON_SIGNING_KEY: "bench",
  };
}
