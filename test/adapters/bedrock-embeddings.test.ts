// The real client over the wire, against a server that speaks InvokeModel.
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBedrockEmbeddings } from "../../lib/adapters/bedrock-embeddings.ts";
import { defaultEmbeddingModel } from "../../lib/adapters/bedrock-embeddings-model.ts";
import { type BedrockServer, startBedrockServer } from "../support/bedrock-server.ts";
import { meaningOf } from "../support/concepts.ts";

let bedrock: BedrockServer;
beforeEach(async () => {
  bedrock = await startBedrockServer();
});
afterEach(() => bedrock.close());

const open = () => createBedrockEmbeddings({ client: bedrock.client });
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `text ${n}`);

describe("createBedrockEmbeddings", () => {
  it("asks Titan for each text, and answers in their order", async () => {
    const texts = ["My sister plays the cello.", "I live in Berlin.", "安"];
    expect(await open().embed(texts)).toEqual({
      vectors: texts.map((text) => meaningOf(text, 256)),
      inputTokens: 5 + 4 + 1,
    });
    expect(bedrock.requests.map(({ path }) => path)).toEqual(
      texts.map(() => "/model/amazon.titan-embed-text-v2:0/invoke"),
    );
    const bodies = texts.map((inputText) => ({ inputText, dimensions: 256, normalize: true }));
    expect(new Set(bedrock.requests.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set(bodies.map((body) => JSON.stringify(body))),
    );
    expect(bedrock.requests[0]?.headers.authorization).toContain("/eu-central-1/bedrock/aws4_request");
  });

  it("asks nothing for no texts", async () => {
    expect(await open().embed([])).toEqual({ vectors: [], inputTokens: 0 });
    expect(bedrock.requests).toEqual([]);
  });

  it("has eight calls open at a time and no more", async () => {
    const { held, release } = bedrock.hold();
    const embedding = open().embed(numbered(30));
    await held(8);
    release();
    expect((await embedding).vectors).toHaveLength(30);
    expect(bedrock.most()).toBe(8);
  });

  const faults = [
    { status: 429, type: "ThrottlingException", name: "ModelRateLimited", uncharged: true },
    { status: 400, type: "ServiceQuotaExceededException", name: "ModelRateLimited", uncharged: true },
    { status: 400, type: "ValidationException", name: "ModelRejected", uncharged: true },
    { status: 404, type: "ResourceNotFoundException", name: "ModelRejected", uncharged: true },
    { status: 403, type: "AccessDeniedException", name: "ModelAuthFailed", uncharged: true },
    { status: 403, type: "ExpiredTokenException", name: "ModelAuthFailed", uncharged: true },
    { status: 408, type: "ModelTimeoutException", name: "ModelUnavailable" },
    { status: 424, type: "ModelErrorException", name: "ModelUnavailable" },
    { status: 500, type: "InternalServerException", name: "ModelUnavailable" },
    { status: 503, type: "ServiceUnavailableException", name: "ModelUnavailable" },
  ];
  for (const { name, uncharged, ...fault } of faults) {
    it(`says ${name} for ${fault.type}, once, and quotes no text (G20)`, async () => {
      bedrock.fail(fault);
      const error = await open()
        .embed(["my secret"])
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name, message: `Bedrock made no embedding: ${fault.type} (request r-1)` });
      expect((error as { uncharged?: true }).uncharged).toBe(uncharged);
      expect(bedrock.requests).toHaveLength(1);
    });
  }

  it("hands on how long to wait", async () => {
    bedrock.fail({ status: 429, type: "ThrottlingException", retryAfter: "7" });
    await expect(open().embed(["x"])).rejects.toMatchObject({ retryAfterMs: 7000 });
  });

  it("says ModelUnavailable for a cut connection and for an answer of another form", async () => {
    const short = JSON.stringify({ embedding: [1, 0], inputTextTokenCount: 1 });
    for (const fault of ["cut" as const, { body: "<html>" }, { body: short }]) {
      bedrock.fail(fault);
      await expect(open().embed(["x"])).rejects.toMatchObject({ name: "ModelUnavailable" });
    }
  });

  it("is not free when other texts may have been charged, and begins nothing after a failure", async () => {
    bedrock.fail({ status: 429, type: "ThrottlingException" });
    const error = await open()
      .embed(numbered(100))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ModelRateLimited" });
    expect(error).not.toHaveProperty("uncharged");
    expect(bedrock.requests.length).toBeLessThan(40);
  });

  it("ends with the signal's reason when it is aborted", async () => {
    const { held, release } = bedrock.hold();
    const abort = new AbortController();
    const embedding = open().embed(["x"], { signal: abort.signal });
    await held(1);
    abort.abort(new Error("enough"));
    await expect(embedding).rejects.toThrow("enough");
    release();
  });

  it("says ModelAuthFailed without credentials, and sends nothing", async () => {
    const credentials = () => {
      throw Object.assign(new Error("none"), { name: "CredentialsProviderError" });
    };
    const client = new BedrockRuntimeClient({ endpoint: bedrock.url, region: "eu-central-1", credentials });
    const embeddings = createBedrockEmbeddings({ client });
    await expect(embeddings.embed(["x"])).rejects.toMatchObject({ name: "ModelAuthFailed", uncharged: true });
    expect(bedrock.requests).toEqual([]);
    client.destroy();
  });

  it("refuses a model that speaks another form", () => {
    const wrong = () => createBedrockEmbeddings({ client: bedrock.client, model: "cohere.embed-multilingual-v3" });
    expect(wrong).toThrow(`"cohere.embed-multilingual-v3" is not known here; use ${defaultEmbeddingModel}`);
  });
});
