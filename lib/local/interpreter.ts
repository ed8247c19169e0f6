// Runs the state machine in this process, in place of Step Functions: the same definition, the steps as functions.
// What it must not do: keep anything that would be missed after a crash. The log has it all.
import { type RunOptions, StateMachine, type StateMachineDefinition } from "aws-local-stepfunctions";
import { OrchestratorUnavailable } from "../core/errors.ts";
import type { ExecutionInput, Orchestrator } from "../ports/orchestrator.ts";
import { type StepInput, type StepName, stepNames } from "../steps/io.ts";
import type { Definition } from "../workflow/asl.ts";
import { arnPlaceholders, stateMachineDefinition } from "../workflow/definition.ts";
import { smallPayload } from "../workflow/payload-limit.ts";
import { type MachineInput, stepInput } from "../workflow/step-input.ts";
import { callbackSeconds, stepTable } from "../workflow/step-table.ts";
import { type Callbacks, createCallbacks } from "./callbacks.ts";

export type StepHandlers = Record<StepName, (input: StepInput) => Promise<unknown>>;

/** Names and ids only, never content (G20). `error` is the literal name of the error. */
export type InterpreterEvent =
  | { kind: "started" | "succeeded" | "aborted"; execution: string; input: ExecutionInput }
  /** What `recover` listens for on AWS (status FAILED). */
  | { kind: "failed"; execution: string; input: ExecutionInput; error: string }
  | { kind: "entered" | "retried" | "caught"; execution: string; state: string; index?: number }
  | { kind: "state-failed"; execution: string; state: string; index?: number; error: string };

export type InterpreterOptions = {
  handlers: StepHandlers;
  /** @default the machine of lib/workflow */
  definition?: Definition;
  /** Told what happens, in order, shortly after it happened. Must not throw. */
  onEvent?: (event: InterpreterEvent) => void;
  /** Milliseconds of every Wait state, for tests. @default what the state says */
  waitOverrideMs?: number;
  /** Milliseconds before every retry, for tests. @default what the retrier says */
  retryOverrideMs?: number;
  /** Milliseconds until a callback is looked at again. @default 20 days */
  callbackTimeoutMs?: number;
  /** Ended executions whose names are remembered ("exists"). @default 10000 */
  rememberedNames?: number;
};

export type Interpreter = Orchestrator & {
  /** Names of the executions that run, oldest first. */
  running(): string[];
  /** Resolves once nothing runs; an open approval counts as running. */
  idle(): Promise<void>;
  /** Starts no further step and resolves when the steps under way have settled. May be called twice. */
  stop(): Promise<void>;
};

export function createInterpreter(options: InterpreterOptions): Interpreter {
  const definition = options.definition ?? stateMachineDefinition(arnPlaceholders);
  // Not validated at each start: test/workflow does it, and it costs more than a hundred rounds. The library's type
  // of a catcher lacks `ResultPath: null`, which it handles.
  const machine = new StateMachine(definition as unknown as StateMachineDefinition, {
    validationOptions: { noValidate: true },
  });
  const callbacks = createCallbacks();
  const live = new Map<string, { abort: () => void }>();
  const ended = new Set<string>();
  const underWay = new Set<Promise<unknown>>();
  const idleWaiters: (() => void)[] = [];
  let stopping = false;

  const tell = options.onEvent ?? (() => {});
  const overrides = {
    ...overriddenTimes(options),
    taskResourceLocalHandlers: taskHandlers(options, callbacks, { guarded, handOver }),
  };

  /** Runs one step unless the interpreter is stopping; `stop` waits for it. */
  function guarded<T>(run: () => Promise<T>): Promise<T> {
    if (stopping) return Promise.reject(new Halted());
    const settled = run();
    underWay.add(settled);
    const forget = () => underWay.delete(settled);
    settled.then(forget, forget);
    return settled;
  }

  async function handOver(name: string, input: ExecutionInput): Promise<void> {
    if (begin(name, input) === "exists") throw alreadyExists(name);
  }

  function begin(name: string, input: ExecutionInput): "started" | "exists" {
    if (live.has(name) || ended.has(name)) return "exists";
    const run = machine.run(input, { overrides, context: contextOf(name, callbacks) as RunOptions["context"] });
    live.set(name, run);
    tell({ kind: "started", execution: name, input });
    const drained = drain(run.eventLogs, name, tell);
    const end = async (last: InterpreterEvent) => {
      await drained;
      live.delete(name);
      remember(ended, name, options.rememberedNames ?? 10_000);
      tell(last);
      if (live.size > 0) return;
      for (const resolve of idleWaiters.splice(0)) resolve();
    };
    run.result.then(
      () => end({ kind: "succeeded", execution: name, input }),
      (error: unknown) => end(lastEvent(error, name, input)),
    );
    return "started";
  }

  return {
    async start(name, input) {
      if (stopping) throw new OrchestratorUnavailable("the interpreter is stopping");
      return begin(name, input);
    },
    async release(taskToken, output) {
      return callbacks.release(taskToken, output) ? "released" : "gone";
    },
    isRunning: async (name) => live.has(name),
    running: () => [...live.keys()],
    idle: () => (live.size === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
    async stop() {
      stopping = true;
      const halted = new Promise<void>((resolve) => (live.size === 0 ? resolve() : idleWaiters.push(resolve)));
      callbacks.close(new Halted());
      for (const execution of live.values()) execution.abort();
      while (underWay.size > 0) await Promise.allSettled(underWay);
      await halted;
    },
  };
}

type Seams = {
  guarded: <T>(run: () => Promise<T>) => Promise<T>;
  handOver: (name: string, input: ExecutionInput) => Promise<void>;
};

/** The task states by name. The library hands over what stands in `Parameters`. */
function taskHandlers(options: InterpreterOptions, callbacks: Callbacks, { guarded, handOver }: Seams) {
  const { handlers, callbackTimeoutMs = callbackSeconds * 1000 } = options;
  type Handler = (parameters: unknown) => Promise<unknown>;
  const steps = stepNames.map((name): [string, Handler] => [
    stepTable[name].state,
    (input) =>
      guarded(async () => smallPayload(name, (await handlers[name](stepInput(input as MachineInput))) ?? null)),
  ]);
  const ask: Handler = async (parameters) => {
    const { Payload } = parameters as { Payload: MachineInput & { taskToken: string } };
    const released = callbacks.wait(Payload.taskToken, callbackTimeoutMs);
    try {
      await guarded(() => handlers.ask(stepInput(Payload)));
    } catch (error) {
      callbacks.drop(Payload.taskToken);
      throw error;
    }
    return released;
  };
  const next: Handler = async (parameters) => {
    const { Name, Input } = parameters as { Name: string; Input: ExecutionInput };
    await guarded(() => handOver(Name, Input));
    return null;
  };
  // The library's type asks for JSON; what a step answers is checked by `smallPayload` and cloned by the library.
  const all = { ...Object.fromEntries(steps), Ask: ask, HandOver: next };
  return all as NonNullable<RunOptions["overrides"]>["taskResourceLocalHandlers"];
}

function overriddenTimes({ waitOverrideMs, retryOverrideMs }: InterpreterOptions) {
  const retried = [...stepNames.map((name) => stepTable[name].state), "HandOver"];
  return {
    ...(waitOverrideMs === undefined ? {} : { waitTimeOverrides: { Wait: waitOverrideMs } }),
    ...(retryOverrideMs === undefined
      ? {}
      : { retryIntervalOverrides: Object.fromEntries(retried.map((state) => [state, retryOverrideMs])) }),
  };
}

/** The library copies it shallowly for every item of a Map, so the token is made anew each time that it is read. */
function contextOf(name: string, callbacks: Callbacks) {
  return {
    Execution: { Id: name, Name: name },
    StateMachine: { Id: "embedded", Name: "embedded" },
    Task: {
      get Token() {
        return callbacks.token();
      },
    },
  };
}

/** The library queues events without bound, so they are read whether or not anyone wants them. */
async function drain(
  logs: ReturnType<StateMachine["run"]>["eventLogs"],
  execution: string,
  tell: (event: InterpreterEvent) => void,
): Promise<void> {
  for await (const event of logs) {
    if (!("state" in event)) continue;
    const at = { execution, state: event.state.name, ...(event.index === undefined ? {} : { index: event.index }) };
    if (event.type === "StateEntered") tell({ kind: "entered", ...at });
    else if (event.type === "StateRetried") tell({ kind: "retried", ...at });
    else if (event.type === "StateCaught") tell({ kind: "caught", ...at });
    else if ("Error" in event) tell({ kind: "state-failed", ...at, error: event.Error });
  }
}

function lastEvent(error: unknown, execution: string, input: ExecutionInput): InterpreterEvent {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const name = cause instanceof Error ? cause.name : "Error";
  if (name === "ExecutionAbortedError" || cause instanceof Halted) return { kind: "aborted", execution, input };
  return { kind: "failed", execution, input, error: name };
}

function remember(names: Set<string>, name: string, most: number): void {
  names.add(name);
  for (const oldest of names) {
    if (names.size <= most) return;
    names.delete(oldest);
  }
}

function alreadyExists(name: string): Error {
  const error = new Error(name);
  error.name = "StepFunctions.ExecutionAlreadyExistsException";
  return error;
}

/** Ends an execution at once: the library neither retries nor catches it. */
class Halted extends Error {
  readonly isRetryable = false;
  readonly isCatchable = false;
  constructor() {
    super("the interpreter is stopping");
    this.name = "Halted";
  }
}
