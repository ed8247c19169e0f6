// An agent on AWS: `new Agent(this, "Agent", { entry: "agent.ts" })` and nothing else required.
import { Names, RemovalPolicy, Validations } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { ParamsAndSecretsLayerVersion, ParamsAndSecretsVersions } from "aws-cdk-lib/aws-lambda";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { requireTitan } from "../adapters/bedrock-embeddings-model.ts";
import { InvalidDefinition } from "../core/errors.ts";
import { type StepName, stepNames } from "../steps/io.ts";
import { stepTable } from "../workflow/step-table.ts";
import { AgentApi, type TokenRules } from "./agent-api.ts";
import { Approvals, type MailProps } from "./approvals.ts";
import { Batch, type TaskEvent } from "./batch.ts";
import { ExecutionAlarms } from "./execution-alarms.ts";
import { grantEmbeddings } from "./grant-embeddings.ts";
import { HandlerFunction } from "./handler-function.ts";
import { machineArn } from "./machine-arn.ts";
import { Memory } from "./memory.ts";
import { Recovery } from "./recovery.ts";
import { SessionStore } from "./session-store.ts";
import { Workflow } from "./workflow.ts";

export type AgentProps = {
  /** Path of the module that exports the agent, or an array of them, as its default. */
  entry: string;
  /**
   * Whose bearer tokens the HTTP API takes.
   * @default no HTTP API is made
   */
  tokens?: TokenRules;
  /**
   * Sender of approval mails and of answers that are to be mailed.
   * @default nobody is mailed; approvals are decided by signed-in people
   */
  mail?: MailProps;
  /**
   * Events of the account's bus that start tasks, and whose tasks.
   * @default none; tasks are started by their schedule, by hand and by POST /v1/events
   */
  events?: TaskEvent[];
  /**
   * Where people reach the API, for instance a custom domain; base of mailed links.
   * @default the API's own URL
   */
  publicUrl?: string;
  /**
   * Secret whose text is the API key of the model.
   * @default a new, empty secret, to be filled in after the first deployment
   */
  modelKey?: ISecret;
  /**
   * Another server that speaks the Messages API.
   * @default Anthropic's own
   */
  modelUrl?: string;
  /**
   * Model of Amazon Bedrock that compares facts by meaning, for agents with `memory.similarity: "embeddings"`:
   * "amazon.titan-embed-text-v2:0". Think and the function of long-term memory may invoke it, and it alone, in the
   * stack's region.
   * @default none; facts are compared by their words
   */
  embeddings?: string;
  /**
   * Variables that the tools read; in the functions that load the agent.
   * @default none
   */
  environment?: Record<string, string>;
  /**
   * Memory of a step's function, in MB.
   * @default 1024 for think, act and compact, 512 for the others
   */
  memoryMb?: Partial<Record<StepName, number>>;
  /**
   * Customer-managed key of the table and the blobs. The stack must name its region.
   * @default keys that AWS owns and manages
   */
  encryptionKey?: IKey;
  /**
   * How long log lines are kept.
   * @default RetentionDays.ONE_MONTH
   */
  logRetention?: RetentionDays;
  /**
   * What becomes of sessions, blobs and logs when the stack is deleted. With DESTROY the table may be deleted too.
   * @default RemovalPolicy.RETAIN
   */
  removalPolicy?: RemovalPolicy;
  /**
   * Told when an execution failed, timed out or was aborted, or when recovery or an event failed for good.
   * @default nobody; the alarms can be seen in CloudWatch
   */
  alarmTopic?: ITopic;
};

export class Agent extends Construct {
  readonly store: SessionStore;
  readonly steps: Record<StepName, HandlerFunction>;
  readonly stateMachine: StateMachine;
  readonly alarms: ExecutionAlarms;
  /** Present when `tokens` are given. */
  readonly api: AgentApi | undefined;
  readonly recovery: Recovery;
  /** Present when `events` are given. */
  readonly batch: Batch | undefined;
  readonly memory: Memory;
  /** Holds the model's API key. */
  readonly modelKey: ISecret;
  /** Grant to this what the tools need: `bucket.grantRead(agent.tools)`. */
  readonly tools: IGrantable;

  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id);
    refuseUnknown(props);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const logRetention = props.logRetention ?? RetentionDays.ONE_MONTH;
    this.store = new SessionStore(this, "Store", { encryptionKey: props.encryptionKey, removalPolicy });
    this.modelKey = props.modelKey ?? this.#newModelKey();
    const { entry, environment, tokens } = props;
    const machine = Names.uniqueResourceName(this, { maxLength: 70, separator: "-" });
    const common = { entry, store: this.store, logRetention, removalPolicy };
    const step = (name: StepName) =>
      new HandlerFunction(this, stepTable[name].state, {
        ...common,
        name,
        description: `Baton: state ${stepTable[name].state}`,
        timeoutSeconds: stepTable[name].functionTimeoutSeconds,
        memoryMb: props.memoryMb?.[name] ?? stepTable[name].memoryMb,
        environment: {
          ...environment,
          ...(asksModel(name) ? this.#modelEnvironment(props) : {}),
          ...(name === "think" ? embeddingsEnvironment(props) : {}),
        },
        ...(asksModel(name) || name === "ask" ? { paramsAndSecrets: secretsExtension } : {}),
      });
    this.steps = Object.fromEntries(stepNames.map((name) => [name, step(name)])) as Record<StepName, HandlerFunction>;
    for (const name of stepNames) if (asksModel(name)) this.modelKey.grantRead(this.steps[name].role);
    this.tools = this.steps.act.role;
    const { steps } = this;
    this.stateMachine = new Workflow(this, "Workflow", {
      name: machine,
      steps,
      logRetention,
      removalPolicy,
    }).stateMachine;
    this.alarms = new ExecutionAlarms(this, "Alarms", { stateMachine: this.stateMachine, topic: props.alarmTopic });
    const apiProps = { ...common, tokens, environment, machine, paramsAndSecrets: secretsExtension };
    this.api = tokens ? new AgentApi(this, "Api", { ...apiProps, tokens }) : undefined;
    const approvals = new Approvals(this, "Approvals", { mail: props.mail });
    const arn = machineArn(this, machine);
    steps.ask.handler.addEnvironment("BATON_STATE_MACHINE", arn);
    const outside = { ...common, environment, machine, topic: props.alarmTopic };
    this.recovery = new Recovery(this, "Recovery", { ...outside, paramsAndSecrets: secretsExtension });
    this.memory = new Memory(this, "Memory", {
      ...common,
      machine,
      modelKey: this.modelKey,
      deadLetters: this.recovery.deadLetters,
      environment: { ...environment, ...this.#modelEnvironment(props), ...embeddingsEnvironment(props) },
      paramsAndSecrets: secretsExtension,
    });
    if (props.embeddings !== undefined) {
      for (const { role } of [steps.think, this.memory.remember]) grantEmbeddings(role, props.embeddings);
    }
    const { events = [] } = props;
    this.batch = events.length > 0 ? new Batch(this, "Batch", { ...outside, events }) : undefined;
    for (const handler of [steps.ask, this.api?.handler, this.recovery.recover, this.recovery.sweep]) {
      if (handler) approvals.bind(handler, props.publicUrl ?? this.api?.url, arn);
    }
  }

  #newModelKey(): Secret {
    const secret = new Secret(this, "ModelKey", { description: "API key of the model: put it in as plain text" });
    Validations.of(secret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason: "The key is issued by the model's provider, which offers no rotation that Secrets Manager could run.",
    });
    return secret;
  }

  #modelEnvironment(props: AgentProps): Record<string, string> {
    return {
      BATON_MODEL_SECRET: this.modelKey.secretArn,
      ...(props.modelUrl ? { ANTHROPIC_BASE_URL: props.modelUrl } : {}),
    };
  }
}

const secretsExtension = ParamsAndSecretsLayerVersion.fromVersion(ParamsAndSecretsVersions.V1_0_103);

function embeddingsEnvironment({ embeddings }: AgentProps): Record<string, string> {
  return embeddings === undefined ? {} : { BATON_EMBEDDINGS_MODEL: embeddings };
}

/** Every option is honoured, so one that is not known is a mistake. */
const known: Record<keyof AgentProps, true> = {
  entry: true,
  tokens: true,
  mail: true,
  events: true,
  publicUrl: true,
  modelKey: true,
  modelUrl: true,
  embeddings: true,
  environment: true,
  memoryMb: true,
  encryptionKey: true,
  logRetention: true,
  removalPolicy: true,
  alarmTopic: true,
};

function refuseUnknown(props: AgentProps): void {
  const unknown = Object.keys(props).filter((key) => !(key in known));
  if (unknown.length > 0) throw new InvalidDefinition(`Agent: unknown option ${unknown.join(", ")}`);
  const reserved = Object.keys(props.environment ?? {}).filter((key) => key.startsWith("BATON_"));
  if (props.embeddings !== undefined) requireTitan(props.embeddings, "Agent.embeddings");
  if (reserved.length > 0) throw new InvalidDefinition(`Agent.environment: ${reserved.join(", ")} is set by Baton`);
}

function asksModel(name: StepName): boolean {
  return name === "think" || name === "compact";
}
