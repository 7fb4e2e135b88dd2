import type { LanguageModel, StopCondition, streamText, ToolSet } from "ai";
import type { AgentContext, Json, Kernel, MessageInput, Session } from "../../index.ts";
import type { LonghaulModelOptions } from "../options.ts";
import type { RetrievalOptions } from "../retrieval.ts";

/** What an agent's function gets, with a session of the kernel. */
export type SessionContext = AgentContext<Session>;

type OfContext<T> = T | ((context: SessionContext) => T | Promise<T>);

/** Settings of each call to the model, as the AI SDK has them. */
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

/** An agent on the AI SDK: a model, tools, and how its window is kept. */
export interface AiSdkAgentOptions {
  readonly kernel: Kernel;
  /** Names it among agents: tasks that a crash left are resumed by whoever has registered this name. */
  readonly name: string;
  readonly model: OfContext<LanguageModel>;
  readonly instructions?: OfContext<string>;
  readonly tools?: OfContext<ToolSet>;
  /** Looks in memory for what a task's input refers to, and puts it before the input; off by default. */
  readonly retrieval?: true | Partial<RetrievalOptions>;
  /** How its window is kept: policy, compaction, memories, and all else that `withLonghaul` takes. */
  readonly window?: Omit<LonghaulModelOptions, "session" | "history" | "blobs" | "retrieval">;
  /** Settings of each call to the model. */
  readonly call?: CallSettings;
  /** What the model is told of a task's input: a text as it is, the `prompt` of an object, else the JSON, by default. */
  readonly messageOf?: (input: Json) => MessageInput;
  /** Most steps of a task, crashes included; 200 by default. */
  readonly maxSteps?: number;
  /** Ends the loop behind a step with tool results; sees the steps since the task was last taken up. */
  readonly stopWhen?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[];
  /** Whether a last word is kept open while children run, whose notices it may want to answer; true by default. */
  readonly isWaitingForChildren?: boolean;
}

/** How an agent's task ended: its result. */
export type AiSdkAgentResult = {
  /** The last thing it said. */
  readonly text: string;
  readonly steps: number;
  /** Why it stopped: it had said its last word, it was stopped by `stopWhen`, or it had used up its steps. */
  readonly stop: "done" | "condition" | "steps";
};

/** What may be given as a value or made from the context. */
export async function resolved<T>(given: OfContext<T>, context: SessionContext): Promise<T> {
  return typeof given === "function"
    ? (given as (context: SessionContext) => T | Promise<T>)(context)
    : given;
}
