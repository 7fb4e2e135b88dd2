import type { LanguageModel, StopCondition, streamText, ToolSet } from "ai";
import type { AgentContext, Json, Kernel, MessageInput, Session } from "../../../kernel/index.ts";
import type { LonghaulModelOptions } from "../longhaul-model-options.ts";
import type { RetrievalOptions } from "../retrieval.ts";

/** The context of an agent, with a session of the kernel. */
export type SessionContext = AgentContext<Session>;

type FromContext<T> = T | ((context: SessionContext) => T | Promise<T>);

/** AI SDK settings for each call to the model. */
export type CallSettings = Pick<
  Parameters<typeof streamText>[0],
  | "headers"
  | "maxOutputTokens"
  | "maxRetries"
  | "providerOptions"
  | "reasoning"
  | "temperature"
  | "timeout"
  | "toolCallConcurrency"
  | "toolChoice"
>;

/** Options of an AI SDK agent: its model, its tools, and its window. */
export interface AiSdkAgentOptions {
  readonly kernel: Kernel;
  /** Registered name of the agent; after a crash, its tasks are resumed by the agent with this name. */
  readonly name: string;
  readonly model: FromContext<LanguageModel>;
  readonly instructions?: FromContext<string>;
  readonly tools?: FromContext<ToolSet>;
  /** Recalls memory related to a task's input and inserts it before the input; off by default. */
  readonly retrieval?: true | Partial<RetrievalOptions>;
  /** Window options: policy, compaction, memories, and everything else that `withLonghaul` accepts. */
  readonly window?: Omit<LonghaulModelOptions, "session" | "history" | "blobs" | "retrieval">;
  /** Settings for each call to the model. */
  readonly call?: CallSettings;
  /** Builds the message for a task's input; by default a text unchanged, the `prompt` of an object, else the JSON. */
  readonly messageOf?: (input: Json) => MessageInput;
  /** Maximum steps of a task, counted across crashes; default 200. */
  readonly maxSteps?: number;
  /** Ends the loop after a step with tool results; sees the steps since the task was last started or resumed. */
  readonly stopWhen?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[];
  /** True (default) to wait for running children before finishing, so that the agent can react to their notices. */
  readonly isWaitingForChildren?: boolean;
}

/** Result of an agent's task. */
export type AiSdkAgentResult = {
  /** Text of the last reply. */
  readonly text: string;
  readonly steps: number;
  /** Why it stopped: it finished, `stopWhen` stopped it, or it used up its steps. */
  readonly stop: "done" | "condition" | "steps";
};

/** Resolves a value that may be given directly or as a function of the context. */
export async function resolveOption<T>(given: FromContext<T>, context: SessionContext): Promise<T> {
  return typeof given === "function"
    ? (given as (context: SessionContext) => T | Promise<T>)(context)
    : given;
}
