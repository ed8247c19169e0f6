// The part of the Amazon States Language (JSONPath) that the machine uses: what AWS and the embedded interpreter
// do the same way. Anything else does not compile.

export type Template = { [field: string]: string | number | Template };

export type Retrier = {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  MaxAttempts: number;
  JitterStrategy?: "FULL";
};

/** `ResultPath` null keeps the state's input; "$.error" adds `{Error, Cause}` to it. */
export type Catcher = { ErrorEquals: string[]; ResultPath: "$.error" | null; Next: string };

type Onward = { Next: string; End?: never } | { End: true; Next?: never };

export type TaskState = {
  Type: "Task";
  Comment?: string;
  Resource: string;
  /** @default the state's whole input */
  Parameters?: Template;
  TimeoutSeconds: number;
  ResultPath?: null;
  Retry?: Retrier[];
  Catch?: Catcher[];
} & Onward;

export type MapState = {
  Type: "Map";
  Comment?: string;
  ItemsPath: string;
  ItemSelector: Template;
  MaxConcurrency: number;
  ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }; StartAt: string; States: Record<string, State> };
  ResultPath: null;
  Catch: Catcher[];
  Next: string;
};

export type ChoiceState = {
  Type: "Choice";
  Comment?: string;
  Choices: { Variable: string; StringEquals: string; Next: string }[];
  Default: string;
};

export type State =
  | TaskState
  | MapState
  | ChoiceState
  | { Type: "Wait"; Comment?: string; SecondsPath: string; Next: string }
  | { Type: "Succeed"; Comment?: string }
  | { Type: "Fail"; Comment?: string; Error: string; Cause: string };

export type Definition = { Comment: string; StartAt: string; States: Record<string, State> };
