// BATON_EMBEDDINGS of the embedded runtime: what the settings take, and Bedrock by the SDK's own settings.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddings } from "../../lib/local/open-embeddings.ts";
import { readSettings } from "../../lib/local/settings.ts";
import { startBedrockServer } from "../support/bedrock-server.ts";

const before = { ...process.env };
beforeEach(() => {
  // Nothing of whoever runs the tests.
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, { AWS_CONFIG_FILE: "/dev/null", AWS_SHARED_CREDENTIALS_FILE: "/dev/null" });
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

describe("the settings of embeddings", () => {
  it("are off, and Titan when they are on", () => {
    const read = (env: NodeJS.ProcessEnv) => {
      const { embeddings, embeddingsModel } = readSettings(env, "/");
      return { embeddings, embeddingsModel };
    };
    const embeddingsModel = "amazon.titan-embed-text-v2:0";
    expect(read({})).toEqual({ embeddings: "off", embeddingsModel });
    expect(read({ BATON_EMBEDDINGS: "bedrock" })).toEqual({ embeddings: "bedrock", embeddingsModel });
  });

  it("refuse what is not known", () => {
    expect(() => readSettings({ BATON_EMBEDDINGS: "yes" }, "/")).toThrow(
      "BATON_EMBEDDINGS=yes: use one of off, bedrock",
    );
    expect(() => readSettings({ BATON_EMBEDDINGS_MODEL: "cohere.embed-v4:0" }, "/")).toThrow(
      'BATON_EMBEDDINGS_MODEL: "cohere.embed-v4:0" is not known here; use amazon.titan-embed-text-v2:0',
    );
  });
});

describe("openEmbeddings", () => {
  const settings = { embeddingsModel: "amazon.titan-embed-text-v2:0" };

  it("needs a region, and says so at the start", async () => {
    await expect(openEmbeddings(settings)).rejects.toMatchObject({
      name: "InvalidDefinition",
      message: "BATON_EMBEDDINGS=bedrock needs a region: set AWS_REGION",
    });
  });

  it("asks the endpoint of the environment with its credentials", async () => {
    const bedrock = await startBedrockServer();
    Object.assign(process.env, {
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
    });
    try {
      const embeddings = await openEmbeddings(settings);
      expect(await embeddings.embed(["I live in Berlin."])).toMatchObject({ inputTokens: 4 });
      expect(bedrock.requests[0]?.headers.authorization).toMatch(/Credential=local\/\d{8}\/eu-west-1\/bedrock\//);
    } finally {
      await bedrock.close();
    }
  });
});
