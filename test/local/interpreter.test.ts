// The real machine, run in this process over trivial steps.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentChanged, ApprovalNeeded, ModelOverloaded, ShuttingDown } from "../../lib/core/errors.ts";
import {
  createInterpreter,
  type Interpreter,
  type InterpreterEvent,
  type InterpreterOptions,
  type StepHandlers,
} from "../../lib/local/interpreter.ts";
import type { ExecutionInput } from "../../lib/ports/orchestrator.ts";
import type { StepInput, StepName, StepOutput } from "../../lib/steps/io.ts";

const start: ExecutionInput = {
  tenant: "acme",
  sessionId: "20260505_143022_a1b2c3d4",
  turn: 3,
  segment: 0,
  cause: "",
};

type Machine = {
  interpreter: Interpreter;
  /** Inputs by step, in order. */
  seen: { step: StepName; input: StepInput }[];
  events: InterpreterEvent[];
  states(execution?: string): string[];
  play(): Promise<void>;
};

/** Thinks what `script` says, one entry a think; every other step does what is expected of it unless overridden. */
function machine(script: Partial<StepOutput>[], options: Partial<InterpreterOptions & StepHandlers> = {}): Machine {
  const seen: Machine["seen"] = [];
  const events: InterpreterEvent[] = [];
  let thinks = 0;
  const defaults: StepHandlers = {
    begin: async (input) => output(input, { next: "think" }),
    think: async (input) => output(input, script[thinks++] ?? { next: "finish" }),
    act: async () => ({}),
    ask: async () => ({}),
    compact: async (input) => output(input, { next: "think" }),
    finish: async (input) => output(input, { next: "done" }),
    fail: async (input) => output(input, { next: "done" }),
  };
  const recorded = (step: StepName) => (input: StepInput) => {
    seen.push({ step, input });
    return (options[step] ?? defaults[step])(input);
  };
  const handlers = Object.fromEntries(
    (Object.keys(defaults) as StepName[]).map((step) => [step, recorded(step)]),
  ) as StepHandlers;
  const interpreter = createInterpreter({
    retryOverrideMs: 0,
    waitOverrideMs: 0,
    ...options,
    handlers,
    onEvent: (event) => events.push(event),
  });
  const states = (execution = "e1") =>
    events.flatMap((event) => (event.kind === "entered" && event.execution === execution ? [event.state] : []));
  const play = async () => {
    await interpreter.start("e1", start);
    await interpreter.idle();
  };
  return { interpreter, seen, events, states, play };
}

function output(input: StepInput, change: Partial<StepOutput>): StepOutput {
  const { tenant, sessionId, turn, segment, execution } = input;
  return {
    tenant,
    sessionId,
    turn,
    segment,
    execution,
    next: "done",
    calls: [],
    waitSeconds: 0,
    handOver: "",
    ...change,
  };
}

const lastEvent = ({ events }: Machine) => events.at(-1);
const inputsOf = ({ seen }: Machine, step: StepName) => seen.filter((s) => s.step === step).map((s) => s.input);

describe("the interpreter", () => {
  it("enters 3 + calls states a round and 7 more a turn", async () => {
    const turn = machine([
      { next: "act", calls: [0] },
      { next: "act", calls: [0, 1, 2] },
    ]);
    await turn.play();
    expect(turn.states()).toEqual([
      ...["Begin", "Route"],
      ...["Think", "Route", "Calls", "Act"],
      ...["Think", "Route", "Calls", "Act", "Act", "Act"],
      ...["Think", "Route", "Finish", "Route", "Done"],
    ]);
    expect(turn.states()).toHaveLength(2 * 3 + 4 + 7);
    expect(lastEvent(turn)).toEqual({ kind: "succeeded", execution: "e1", input: start });
  });

  it("hands each step its ids and nothing else", async () => {
    const turn = machine([{ next: "compact" }, { next: "act", calls: [4] }]);
    await turn.play();
    const { cause: _, ...session } = start;
    const ids = { ...session, execution: "e1" };
    expect(turn.seen).toEqual([
      { step: "begin", input: { ...ids, cause: "" } },
      { step: "think", input: ids },
      { step: "compact", input: ids },
      { step: "think", input: ids },
      { step: "act", input: { ...ids, index: 4 } },
      { step: "think", input: ids },
      { step: "finish", input: ids },
    ]);
  });

  it("puts gated calls to people while their siblings run, each with its own token (H18)", async () => {
    const decided = new Set<number>();
    const finished: number[] = [];
    const asked = Promise.withResolvers<void>();
    const siblings = Promise.withResolvers<void>();
    const turn = machine([{ next: "act", calls: [0, 1, 2] }], {
      act: async ({ index = -1 }) => {
        if (index !== 1 && !decided.has(index)) throw new ApprovalNeeded("gated");
        finished.push(index);
        if (finished.length === 1) siblings.resolve();
        return {};
      },
      ask: async () => {
        if (inputsOf(turn, "ask").length === 2) asked.resolve();
      },
    });
    await turn.interpreter.start("e1", start);
    await Promise.all([asked.promise, siblings.promise]);
    expect(finished).toEqual([1]);
    expect(turn.interpreter.running()).toEqual(["e1"]);

    const tokens = new Map(inputsOf(turn, "ask").map((input) => [input.index, input.taskToken ?? ""]));
    expect([...tokens.keys()].sort()).toEqual([0, 2]);
    expect(new Set(tokens.values()).size).toBe(2);
    for (const token of tokens.values()) expect(token).toMatch(/^[\w-]{43}$/);

    for (const index of [2, 0]) {
      decided.add(index);
      expect(await turn.interpreter.release(tokens.get(index) ?? "", { approvalId: "a" })).toBe("released");
      expect(await turn.interpreter.release(tokens.get(index) ?? "", { approvalId: "a" })).toBe("gone");
    }
    await turn.interpreter.idle();
    expect(finished).toEqual([1, 2, 0]);
    expect(turn.states().filter((state) => state === "Ask" || state === "Act")).toHaveLength(3 + 2 * 2);
    expect(lastEvent(turn)?.kind).toBe("succeeded");
  });

  it("takes an answer that comes before Ask has returned", async () => {
    const answers: string[] = [];
    const turn = machine([{ next: "act", calls: [0] }], {
      act: async () => {
        if (answers.length === 0) throw new ApprovalNeeded("gated");
      },
      ask: async ({ taskToken = "" }) => {
        answers.push(await turn.interpreter.release(taskToken, {}));
      },
    });
    await turn.play();
    expect(answers).toEqual(["released"]);
    expect(turn.states().slice(4, 9)).toEqual(["Calls", "Act", "Ask", "Act", "Think"]);
    expect(lastEvent(turn)?.kind).toBe("succeeded");
  });

  it("looks at the call again when nobody answers in time; the old token is dead, never approved (H72, G10)", async () => {
    const turn = machine([{ next: "act", calls: [0] }], {
      callbackTimeoutMs: 1,
      act: async () => {
        if (inputsOf(turn, "ask").length < 2) throw new ApprovalNeeded("gated");
      },
    });
    await turn.play();
    const tokens = inputsOf(turn, "ask").map((input) => input.taskToken ?? "");
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(await turn.interpreter.release(token, {})).toBe("gone");
    expect(turn.states().filter((state) => state === "Ask" || state === "Act")).toEqual(
      "Act Ask Act Ask Act".split(" "),
    );
  });

  it("waits in the Wait state and thinks again (H44)", async () => {
    const turn = machine([{ next: "wait", waitSeconds: 16 }]);
    await turn.play();
    expect(turn.states().slice(2, 6)).toEqual(["Think", "Route", "Wait", "Think"]);
  });

  it("retries a transient error by its literal name, five times", async () => {
    let failures = 5;
    const turn = machine([], {
      begin: async (input) => {
        if (failures-- > 0) throw new ModelOverloaded("529");
        return output(input, { next: "done" });
      },
    });
    await turn.play();
    expect(inputsOf(turn, "begin")).toHaveLength(6);
    expect(turn.events.filter((event) => event.kind === "retried")).toHaveLength(5);
    expect(inputsOf(turn, "fail")).toEqual([]);
  });

  it.each([
    ["a transient error that stays", new ModelOverloaded("529"), "ModelOverloaded", 6],
    ["a terminal error", new AgentChanged("step 3 is gone"), "AgentChanged", 1],
    ["an error of the author", new RangeError("no"), "RangeError", 1],
  ])("gives %s to Fail by name only", async (_, error, name, attempts) => {
    const turn = machine([], { think: () => Promise.reject(error) });
    await turn.play();
    expect(inputsOf(turn, "think")).toHaveLength(attempts);
    const { cause: __, ...ids } = start;
    expect(inputsOf(turn, "fail")).toEqual([{ ...ids, execution: "e1", error: name }]);
    expect(lastEvent(turn)?.kind).toBe("succeeded");
  });

  it("gives the failure of one of several calls to Fail", async () => {
    const turn = machine([{ next: "act", calls: [0, 1] }], {
      act: async ({ index }) => {
        if (index === 1) throw new AgentChanged("tool is gone");
      },
    });
    await turn.play();
    expect(inputsOf(turn, "fail").map((input) => input.error)).toEqual(["AgentChanged"]);
    expect(turn.states().slice(-3)).toEqual(["Fail", "Route", "Done"]);
  });

  it("goes on when Fail finds that all is well", async () => {
    let failed = false;
    const turn = machine([], {
      fail: async (input) => {
        failed = true;
        return output(input, { next: "think" });
      },
      think: async (input) => {
        if (!failed) throw new AgentChanged("once");
        return output(input, { next: "finish" });
      },
    });
    await turn.play();
    expect(turn.states().slice(3)).toEqual(["Fail", "Route", "Think", "Route", "Finish", "Route", "Done"]);
  });

  it("ends as failed, with its input, when Fail itself fails, so that recovery can act (H26)", async () => {
    const turn = machine([], {
      think: () => Promise.reject(new AgentChanged("one")),
      fail: () => Promise.reject(new AgentChanged("two")),
    });
    await turn.play();
    expect(lastEvent(turn)).toEqual({ kind: "failed", execution: "e1", input: start, error: "TurnNotClosed" });
  });

  it("fails a step whose answer is not small (H73)", async () => {
    const turn = machine([{ next: "think", handOver: "x".repeat(20_000) }]);
    await turn.play();
    expect(inputsOf(turn, "fail").map((input) => input.error)).toEqual(["ItemTooLarge"]);
  });

  it("hands over to the next segment under the name that the step made (H74)", async () => {
    const turn = machine([{ next: "yield", handOver: "e2" }]);
    await turn.play();
    expect(turn.states("e1").slice(-2)).toEqual(["HandOver", "Done"]);
    const next = { ...start, segment: 1, cause: "hand-over" };
    expect(inputsOf(turn, "begin")[1]).toEqual({ ...next, execution: "e2" });
    expect(lastEvent(turn)).toEqual({ kind: "succeeded", execution: "e2", input: next });
  });

  it("is done when the next segment was started already", async () => {
    const turn = machine([{ next: "yield", handOver: "e1" }]);
    await turn.play();
    expect(turn.events.filter((event) => event.kind === "started")).toHaveLength(1);
    expect(lastEvent(turn)?.kind).toBe("succeeded");
  });

  it("starts a name once, while it runs and after it (H63)", async () => {
    const turn = machine([], { rememberedNames: 2 });
    const all = await Promise.all(Array.from({ length: 10 }, () => turn.interpreter.start("e1", start)));
    expect(all.filter((answer) => answer === "started")).toHaveLength(1);
    await turn.interpreter.idle();
    expect(await turn.interpreter.start("e1", start)).toBe("exists");
    for (const name of ["e2", "e3"]) await turn.interpreter.start(name, start);
    await turn.interpreter.idle();
    expect(await turn.interpreter.start("e3", start)).toBe("exists");
    expect(await turn.interpreter.start("e1", start)).toBe("started");
    await turn.interpreter.idle();
  });

  it("says gone for a token that it never gave", async () => {
    expect(await machine([]).interpreter.release("forged", {})).toBe("gone");
  });

  it("enters the states that the decisions ask for, whatever their order", async () => {
    const decision = fc.oneof(
      fc.constantFrom<Partial<StepOutput>>({ next: "think" }, { next: "compact" }, { next: "wait", waitSeconds: 1 }),
      fc.uniqueArray(fc.nat(60), { maxLength: 50 }).map((calls): Partial<StepOutput> => ({ next: "act", calls })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(decision, { maxLength: 8 }), async (script) => {
        const turn = machine(script);
        await turn.play();
        const expected = script.flatMap(({ next, calls }) => {
          if (next === "act") return ["Think", "Route", "Calls", ...(calls ?? []).map(() => "Act")];
          if (next === "compact") return ["Think", "Route", "Compact", "Route"];
          return next === "wait" ? ["Think", "Route", "Wait"] : ["Think", "Route"];
        });
        const end = ["Think", "Route", "Finish", "Route", "Done"];
        expect(turn.states()).toEqual(["Begin", "Route", ...expected, ...end]);
        expect(inputsOf(turn, "act").map((input) => input.index)).toEqual(script.flatMap(({ calls }) => calls ?? []));
      }),
      { numRuns: 40 },
    );
  });
});

describe("stopping the interpreter", () => {
  it("lets the running steps settle and starts no other", async () => {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let settled = false;
    const turn = machine([], {
      think: async (input) => {
        entered.resolve();
        await release.promise;
        settled = true;
        return output(input, { next: "finish" });
      },
    });
    await turn.interpreter.start("e1", start);
    await entered.promise;
    const stopped = turn.interpreter.stop().then(() => settled);
    await expect(turn.interpreter.start("e2", start)).rejects.toMatchObject({ name: "OrchestratorUnavailable" });
    release.resolve();
    expect(await stopped).toBe(true);
    await turn.interpreter.stop();
    expect(inputsOf(turn, "finish")).toEqual([]);
    expect(lastEvent(turn)).toEqual({ kind: "aborted", execution: "e1", input: start });
    expect(turn.interpreter.running()).toEqual([]);
  });

  it("does not repeat a step that fails because of it, at once or after its back-off", async () => {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const turn = machine([], {
      retryOverrideMs: 600_000,
      think: async () => {
        entered.resolve();
        await release.promise;
        throw new ShuttingDown("stopping");
      },
    });
    await turn.interpreter.start("e1", start);
    await entered.promise;
    const stopped = turn.interpreter.stop();
    release.resolve();
    await stopped;
    expect(inputsOf(turn, "think")).toHaveLength(1);
    expect(inputsOf(turn, "fail")).toEqual([]);
  });

  it("does not wait for a retry that is due later", async () => {
    const turn = machine([], { retryOverrideMs: 600_000, think: () => Promise.reject(new ModelOverloaded("529")) });
    await turn.interpreter.start("e1", start);
    while (!turn.events.some((event) => event.kind === "state-failed")) await new Promise(setImmediate);
    await turn.interpreter.stop();
    expect(inputsOf(turn, "think")).toHaveLength(1);
    expect(lastEvent(turn)?.kind).toBe("aborted");
  });

  it("does not wait for people; their token is gone and neither Act nor Fail runs", async () => {
    const asked = Promise.withResolvers<string>();
    const turn = machine([{ next: "act", calls: [0] }], {
      act: () => Promise.reject(new ApprovalNeeded("gated")),
      ask: async ({ taskToken = "" }) => asked.resolve(taskToken),
    });
    await turn.interpreter.start("e1", start);
    const token = await asked.promise;
    await turn.interpreter.stop();
    expect(await turn.interpreter.release(token, {})).toBe("gone");
    expect(turn.seen.map((entry) => entry.step)).toEqual(["begin", "think", "act", "ask"]);
    expect(lastEvent(turn)?.kind).toBe("aborted");
  });
});
