import { describe, expect, it } from "vitest";
import { apiFixture } from "./api-fixture.ts";

type Operation = {
  security?: unknown;
  responses: Record<string, unknown>;
  parameters?: { name: string; in: string }[];
};
type Document = {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { additionalProperties?: boolean; required?: string[] }> };
};

async function document(): Promise<Document> {
  const response = await apiFixture().ask("/openapi.json", { token: "" });
  expect(response.status).toBe(200);
  return (await response.json()) as Document;
}

describe("openapi.json", () => {
  it("names every route, made from the schemas that check requests", async () => {
    const { openapi, paths, components } = await document();
    expect(openapi).toBe("3.1.0");
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(routes).toEqual(
      expect.arrayContaining([
        "get /healthz",
        "get /v1/approvals",
        "get /v1/approvals/{id}",
        "get /v1/sessions",
        "get /v1/sessions/{id}",
        "get /v1/sessions/{id}/checkpoints",
        "get /v1/sessions/{id}/checkpoints/{version}",
        "get /v1/sessions/{id}/events",
        "post /v1/approvals/{id}/decision",
        "post /v1/messages",
        "post /v1/sessions/{id}/stop",
      ]),
    );
    expect(components.schemas.Message).toMatchObject({ additionalProperties: false, required: ["key"] });
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(["Problem", "Session", "Tree", "Turn", "Step", "Event", "Accepted"]),
    );
    expect(
      paths["/v1/messages"]?.post?.parameters?.map(({ name, in: place }) => `${place} ${name}`).toSorted(),
    ).toEqual(["header Idempotency-Key", "query wait"]);
  });

  it("asks for a token everywhere under /v1 and says which problems may come", async () => {
    const { paths } = await document();
    for (const [path, methods] of Object.entries(paths).filter(([path]) => path.startsWith("/v1/"))) {
      for (const operation of Object.values(methods)) {
        expect(operation.security, path).toEqual([{ bearer: [] }]);
        expect(Object.keys(operation.responses), path).toEqual(expect.arrayContaining(["400", "401", "503"]));
      }
    }
  });
});

describe("GET /healthz", () => {
  it("says that the runtime takes requests, and 503 once it stops", async () => {
    const { ask, stop } = apiFixture();
    expect(await (await ask("/healthz", { token: "" })).json()).toEqual({
      status: "ok",
      version: "0.1.0",
      model: "none",
    });
    stop.abort();
    expect((await ask("/healthz")).status).toBe(503);
  });
});
