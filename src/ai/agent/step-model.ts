import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type LanguageModel, wrapLanguageModel } from "ai";
import type { MessageInput } from "../../index.ts";
import { Calls, type UsageReported } from "../call.ts";
import type { LonghaulModelOptions } from "../options.ts";
import { beginCall, healingStream, modelOf } from "../sending.ts";
import { heldStream, type ReplyKeeper } from "./held-stream.ts";

/** Receives the replies of a model. */
export interface Replies extends Pick<ReplyKeeper, "see"> {
  /** Stores a whole reply and its usage. */
  readonly store: (message: MessageInput | undefined, usage: UsageReported | undefined) => Promise<void>;
}

/**
 * A model for the steps of a task. It is sent the window of the log, whatever messages the caller passes; refused
 * windows are healed; and the task stores its reply before the reply's calls run.
 */
export function stepModel(
  model: LanguageModel,
  options: Omit<LonghaulModelOptions, "history">,
  replies: Replies,
): LanguageModelV4 {
  const calls = new Calls({ ...options, history: "session" });
  return wrapLanguageModel({
    model: modelOf(model),
    middleware: {
      specificationVersion: "v4",
      async wrapStream({ model: inner, params }) {
        const instructions = params.prompt.filter(({ role }) => role === "system");
        const call = await beginCall(calls, inner, { ...params, prompt: instructions });
        const send = () => inner.doStream(call.paramsWith(params));
        const { result, opened } = await healingStream(call, send);
        const stream = heldStream(opened, inner.modelId, {
          see: replies.see,
          store: ({ message, usage }) => replies.store(message, call.reportOf(usage, message)),
          end: () => call.end(),
        });
        return { ...result, stream };
      },
    },
  });
}
