// The agent of the soak test. Each message says what its turn is to do, so that the model's answers follow from the
// request alone; the witness is the outside world, which outlives every process.
import { setImmediate } from "node:timers/promises";
import { defineAgent, defineTool, type Verdict } from "baton";
import * as z from "zod";
import { ModelOverloaded } from "../../lib/core/errors.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";
import { Crash } from "../../lib/testing/faulty-table.ts";
import type { Random } from "./random.ts";

export type Witness = {
  /** Runs of bodies by idempotency key: of effect `once`, and of effect `idempotent`. */
  once: Map<string, number>;
  idempotent: Map<string, number>;
  /** Bodies that are running in living processes. */
  running: number;
};

export const newWitness = (): Witness => ({ once: new Map(), idempotent: new Map(), running: 0 });

export const toolNames = ["look", "save", "file"] as const;
/** Rounds of tools: "look+save file" are two rounds, the first with two calls. */
export type Plan = string;

export function planFor(random: Random): Plan {
  const rounds = Array.from({ length: 1 + random.int(2) }, () =>
    Array.from({ length: 1 + random.int(3) }, () => random.pick(toolNames)).join("+"),
  );
  return rounds.join(" ");
}

export const textOf = (message: { session: number; n: number; plan: Plan }): string =>
  `m${message.session}.${message.n}: ${message.plan}`;
const written = /^m\d+\.\d+: ([a-z+ ]+)$/;

/** `alive`: of the process that it runs in; a dead one does nothing any more to the outside world. */
export function soakAgent(witness: Witness, alive: () => boolean) {
  const body = (count: Map<string, number> | null, ticks: (n: number) => number) => {
    return async ({ n }: { n: number }, { idempotencyKey }: { idempotencyKey: string }) => {
      witness.running++;
      try {
        for (let tick = 0; tick < ticks(n); tick++) await setImmediate();
        if (!alive()) throw new Crash("the process is dead");
        count?.set(idempotencyKey, (count.get(idempotencyKey) ?? 0) + 1);
        for (let tick = 0; tick < ticks(n + 1); tick++) await setImmediate();
        return { n };
      } finally {
        witness.running--;
      }
    };
  };
  const input = z.object({ n: z.int() });
  // Longer than a body's few turns of the event loop with all clock steps in them: a lease that is over while its holder
  // lives protects nobody.
  const timeout = "10s";
  return defineAgent({
    name: "soak",
    instructions: "Do what the message says.",
    model: { id: "soak-model" },
    context: "full-replay",
    session: { reset: "off", stuckAfter: "30s" },
    limits: { turnMinutes: 1_000_000 },
    tools: [
      defineTool({ name: "look", description: "reads", input, effect: "read", timeout, run: body(null, (n) => n % 3) }),
      defineTool({
        name: "save",
        description: "saves under its key",
        input,
        effect: "idempotent",
        timeout,
        run: body(witness.idempotent, (n) => n % 4),
      }),
      defineTool({
        name: "file",
        description: "files once",
        input,
        effect: "once",
        timeout,
        run: body(witness.once, (n) => n % 5),
        verify: (key: string, { n }: { n: number }): Verdict =>
          witness.once.has(key) ? { status: "done", result: { n } } : "not_done",
      }),
    ],
  });
}

/** Answers by the latest plan and the rounds since; now and then it refuses for a moment. */
export function soakModel(random: Random): Model {
  return {
    async reply(request) {
      await setImmediate();
      if (random.chance(0.02)) throw new ModelOverloaded("overloaded");
      const { rounds, done } = standOf(request);
      const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const place = request.messages.length;
      const calls = (rounds[done] ?? []).map((name, i) => ({
        type: "call" as const,
        id: `call_${place}_${i}`,
        name,
        input: { n: place * 7 + i },
      }));
      if (calls.length > 0) return { model: request.model, content: calls, stop: "tool_use", usage };
      return { model: request.model, content: [{ type: "text", text: "Done." }], stop: "end_turn", usage };
    },
  };
}

function standOf({ messages }: ModelRequest): { rounds: string[][]; done: number } {
  const plans = messages.map(({ role, content }) =>
    role === "user"
      ? content.flatMap((block) => (block.type === "text" ? (written.exec(block.text)?.[1] ?? []) : [])).at(-1)
      : undefined,
  );
  const at = plans.findLastIndex((plan) => plan !== undefined);
  const rounds = (plans[at] ?? "").split(" ").map((round) => round.split("+").filter((name) => name !== ""));
  return { rounds, done: messages.slice(at + 1).filter(({ role }) => role === "assistant").length };
}
