import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type LanguageModel, wrapLanguageModel } from "ai";
import { BoundedMap } from "../../model/base/caches.ts";
import { decodeReply } from "./decode-reply.ts";
import type { LonghaulModelOptions } from "./longhaul-model-options.ts";
import { ModelCalls } from "./model-call.ts";
import { recordStream } from "./record-stream.ts";
import { beginCall, resolveLanguageModel, sendWithHealing, streamWithHealing } from "./send-with-healing.ts";

const MAX_MODELS = 16;

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
function isLonghaulModel(model: LanguageModel): boolean {
  return typeof model === "object" && longhaulModels.has(model);
}

/**
 * A `prepareStep` for agents, or for `generateText` and `streamText` with tools, that runs every step in the session.
 * The step's messages stay the caller's; its model is wrapped with `withLonghaul`, so that messages are stored and
 * fitted, refused windows healed, and replies stored. A model that is already wrapped stays unchanged.
 */
export function prepareStep(
  options: LonghaulModelOptions,
): (step: { readonly model: LanguageModel }) => { readonly model: LanguageModel } {
  // Agents switch between a few models; an agent that creates a new one for every step must not leak memory.
  const wrapped = new BoundedMap<LanguageModel, LanguageModel>({ max: MAX_MODELS });
  return ({ model }) => {
    if (isLonghaulModel(model)) return { model };
    const known = wrapped.get(model) ?? withLonghaul(model, options);
    wrapped.set(model, known);
    return { model: known };
  };
}
