import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type LanguageModel, wrapLanguageModel } from "ai";
import { decodeReply } from "./decode-reply.ts";
import type { LonghaulModelOptions } from "./longhaul-model-options.ts";
import { ModelCalls } from "./model-call.ts";
import { recordStream } from "./record-stream.ts";
import { beginCall, resolveLanguageModel, sendWithHealing, streamWithHealing } from "./send-with-healing.ts";

/**
 * Wraps a model so that it runs in a session: messages are stored, every call is sent a window that fits, refused
 * windows are healed and sent again, and replies and their usage are stored. Everything else is left to the model.
 */
export function withLonghaul(model: LanguageModel, options: LonghaulModelOptions): LanguageModelV4 {
  const calls = new ModelCalls(options);
  const wrapped = wrapLanguageModel({
    model: resolveLanguageModel(model),
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ model: inner, params }) {
        if (calls.areInsideTurn) return inner.doGenerate(params);
        const call = await beginCall(calls, inner, params);
        const result = await sendWithHealing(call, () => inner.doGenerate(call.buildParams(params)));
        const speaker = result.response?.modelId ?? inner.modelId;
        await call.complete(decodeReply(result.content, speaker), result.usage);
        return result;
      },
      async wrapStream({ model: inner, params }) {
        if (calls.areInsideTurn) return inner.doStream(params);
        const call = await beginCall(calls, inner, params);
        const send = () => inner.doStream(call.buildParams(params));
        const { result, opened } = await streamWithHealing(call, send);
        return { ...result, stream: recordStream(opened, call, options.session, inner.modelId) };
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
