import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type LanguageModel, wrapLanguageModel } from "ai";
import { Calls } from "./call.ts";
import type { LonghaulModelOptions } from "./options.ts";
import { recordedStream } from "./recorded-stream.ts";
import { messageOfReply } from "./reply.ts";
import { beginCall, healing, healingStream, modelOf } from "./sending.ts";

/**
 * Wraps a model so that it runs in a session: messages are stored, every call is sent a window that fits, refused
 * windows are healed and sent again, and replies and their usage are stored. Everything else is left to the model.
 */
export function withLonghaul(model: LanguageModel, options: LonghaulModelOptions): LanguageModelV4 {
  const calls = new Calls(options);
  const wrapped = wrapLanguageModel({
    model: modelOf(model),
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ model: inner, params }) {
        if (calls.areSilent) return inner.doGenerate(params);
        const call = await beginCall(calls, inner, params);
        const result = await healing(call, () => inner.doGenerate(call.paramsWith(params)));
        const speaker = result.response?.modelId ?? inner.modelId;
        await call.complete(messageOfReply(result.content, speaker), result.usage);
        return result;
      },
      async wrapStream({ model: inner, params }) {
        if (calls.areSilent) return inner.doStream(params);
        const call = await beginCall(calls, inner, params);
        const send = () => inner.doStream(call.paramsWith(params));
        const { result, opened } = await healingStream(call, send);
        return { ...result, stream: recordedStream(opened, call, options.session, inner.modelId) };
      },
    },
  });
  longhaulModels.add(wrapped);
  return wrapped;
}

const longhaulModels = new WeakSet<object>();

/** True for a model that is already wrapped. */
export function isLonghaulModel(model: LanguageModel): boolean {
  return typeof model === "object" && longhaulModels.has(model);
}
