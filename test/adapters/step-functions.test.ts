// The real client against a server that answers as Step Functions does.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { SFNClient } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createStepFunctionsOrchestrator } from "../../lib/adapters/step-functions.ts";
import type { ExecutionInput, Orchestrator } from "../../lib/ports/orchestrator.ts";

const stateMachineArn = "arn:aws:states:eu-central-1:123456789012:stateMachine:baton";
const input: ExecutionInput = { tenant: "acme", sessionId: "s", turn: 1, segment: 0, cause: "" };

/** `error`: an error name, or null to cut the connection. */
type Reply = { body: object } | { error: string | null };

const seen: { operation: string; body: unknown }[] = [];
let reply: Reply = { body: {} };
let orchestrator: Orchestrator;
let client: SFNClient;

const server = createServer(async (request, response) => {
  const operation = String(request.headers["x-amz-target"]).replace("AWSStepFunctions.", "");
  seen.push({ operation, body: await json(request) });
  if ("body" in reply) return response.end(JSON.stringify(reply.body));
  if (reply.error === null) return request.socket.destroy();
  response.statusCode = 400;
  response.end(JSON.stringify({ __type: reply.error, message: "about token-1234" }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = new SFNClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  orchestrator = createStepFunctionsOrchestrator({ client, stateMachineArn });
});

beforeEach(() => {
  seen.length = 0;
  reply = { body: {} };
});

afterAll(async () => {
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("the Step Functions orchestrator", () => {
  it("starts an execution under its name", async () => {
    reply = { body: { executionArn: "arn", startDate: 0 } };
    expect(await orchestrator.start("e1", input)).toBe("started");
    expect(seen).toEqual([
      { operation: "StartExecution", body: { stateMachineArn, name: "e1", input: JSON.stringify(input) } },
    ]);
  });

  it("says exists for a name that was used (G7)", async () => {
    reply = { error: "ExecutionAlreadyExists" };
    expect(await orchestrator.start("e1", input)).toBe("exists");
  });

  it.each([
    ["RUNNING", true],
    ["SUCCEEDED", false],
    ["FAILED", false],
  ])("tells from status %s whether it runs: %s", async (status, running) => {
    reply = { body: { status, executionArn: "arn", stateMachineArn, startDate: 0 } };
    expect(await orchestrator.isRunning("e1")).toBe(running);
    expect(seen[0]?.body).toEqual({ executionArn: "arn:aws:states:eu-central-1:123456789012:execution:baton:e1" });
  });

  it("takes an execution that is not there for one that does not run", async () => {
    reply = { error: "ExecutionDoesNotExist" };
    expect(await orchestrator.isRunning("e1")).toBe(false);
  });

  it("releases a waiting state", async () => {
    expect(await orchestrator.release("token-1234", { approvalId: "a1" })).toBe("released");
    expect(seen).toEqual([
      { operation: "SendTaskSuccess", body: { taskToken: "token-1234", output: '{"approvalId":"a1"}' } },
    ]);
  });

  it.each(["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])(
    "says gone for a dead token: %s (H72)",
    async (error) => {
      reply = { error };
      expect(await orchestrator.release("token-1234", {})).toBe("gone");
    },
  );

  it.each(["ThrottlingException", "ServiceUnavailable", null])(
    "says that nothing is known after %s, without quoting the token (G20)",
    async (error) => {
      reply = { error };
      const calls = [
        () => orchestrator.start("e1", input),
        () => orchestrator.isRunning("e1"),
        () => orchestrator.release("token-1234", {}),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          name: "OrchestratorUnavailable",
          message: expect.not.stringContaining("1234"),
        });
      }
    },
  );
});
