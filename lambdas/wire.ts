// Composition root of the Lambda handlers: chooses the adapters of the cloud. What is heavy and needed by few
// (the model's SDK, mail) is given by the handler that needs it, so that the light functions stay light.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import agents from "#agent";
import { createDynamoDbTable } from "../lib/adapters/dynamodb-table.ts";
import { createJsonLog } from "../lib/adapters/json-log.ts";
import { silentLive } from "../lib/adapters/live-bus.ts";
import { createRandomIds } from "../lib/adapters/random-ids.ts";
import { createSystemClock } from "../lib/adapters/system-clock.ts";
import { InvalidDefinition, ModelUnavailable, OrchestratorUnavailable } from "../lib/core/errors.ts";
import type { Model } from "../lib/ports/model.ts";
import type { Orchestrator } from "../lib/ports/orchestrator.ts";
import type { Deps } from "../lib/steps/deps.ts";
import { createStore } from "../lib/store/index.ts";
import { requiredVariable } from "./environment.ts";
import { lazyS3Blobs } from "./lazy-s3-blobs.ts";

/** Everything but `stopping`, which is new with each invocation. */
export type Wiring = Omit<Deps, "stopping">;

/** Reads the environment: BATON_TABLE, BATON_BLOBS (see lib/constructs/step-functions.ts). Throws `InvalidDefinition`. */
export function wire(extras: { model?: Model; orchestrator?: Orchestrator } = {}): Wiring {
  const clock = createSystemClock();
  const table = createDynamoDbTable({
    client: new DynamoDBClient({
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 },
    }),
    tableName: requiredVariable("BATON_TABLE"),
    now: clock.now,
  });
  return {
    store: createStore({ table, blobs: lazyS3Blobs(requiredVariable("BATON_BLOBS")), clock }),
    agents: new Map([agents].flat().map((agent) => [agent.name, agent])),
    model: extras.model ?? absentModel,
    orchestrator: extras.orchestrator ?? absentOrchestrator,
    clock,
    ids: createRandomIds(),
    log: createJsonLog({ write: (line) => void process.stdout.write(line) }),
    live: silentLive,
    ...absentApprovals,
  };
}

const absentModel: Model = {
  reply: () => Promise.reject(new ModelUnavailable("this function asks no model")),
};

const refuse = () => Promise.reject(new OrchestratorUnavailable("this function starts no executions"));
const absentOrchestrator: Orchestrator = { start: refuse, isRunning: refuse, release: refuse };

const noApprovals = (): never => {
  throw new InvalidDefinition("this function asks nobody");
};
const absentApprovals: Pick<Wiring, "mailer" | "approvalMails" | "signer" | "publicUrl" | "webhooks"> = {
  mailer: { destination: "nowhere", send: async () => noApprovals() },
  approvalMails: { write: noApprovals, messageId: noApprovals },
  signer: { hmac: noApprovals },
  publicUrl: noApprovals,
  webhooks: { check: noApprovals, send: async () => noApprovals(), secretOf: noApprovals },
};
