import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type LanguageModel, wrapLanguageModel } from "ai";
import type { MessageInput } from "../../index.ts";
import type { LonghaulModelOptions } from "../longhaul-model-options.ts";
import { ModelCalls, type ModelUsage } from "../model-call.ts";
import { beginCall, resolveLanguageModel, streamWithHealing } from "../send-with-healing.ts";
import { holdToolCalls, type ReplySink } from "./hold-tool-calls.ts";

/** Receives the replies of a model. */
interface StepReplySink extends Pick<ReplySink, "see"> {
  /** Stores a whole reply and its usage. */
  readonly store: (message: MessageInput | undefined, usage: ModelUsage | undefined) => Promise<void>;
}

/**
 * A model for the steps of a task. It is sent the window of the log, whatever messages the caller passes; refused
 * windows are healed; and the task stores its reply before the reply's calls run.
 */
export function createStepModel(
  model: LanguageModel,
  options: Omit<LonghaulModelOptions, "history">,
  replies: StepReplySink,
): LanguageModelV4 {
  const calls = new ModelCalls({ ...options, history: "session" });
  return wrapLanguageModel({
    model: resolveLanguageModel(model),
    middleware: {
      specificationVersion: "v4",
      async wrapStream({ model: inner, params }) {
        const instructions = params.prompt.filter(({ role }) => role === "system");
        const call = await beginCall(calls, inner, { ...params, prompt: instructions });
        const send = () => inner.doStream(call.buildParams(params));
        const { result, opened } = await streamWithHealing(call, send);
        const stream = holdToolCalls(opened, inner.modelId, {
          see: replies.see,
          store: ({ message, usage }) => replies.store(message, call.buildReport(usage, message)),
          end: () => call.end(),
        });
        return { ...result, stream };
      },
    },
  });
}
