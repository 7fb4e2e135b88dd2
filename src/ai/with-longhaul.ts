import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { gateway, type LanguageModel, wrapLanguageModel } from "ai";
import type { Json } from "../index.ts";
import { type Call, Calls } from "./call.ts";
import type { LonghaulModelOptions } from "./options.ts";
import { openStream, recordedStream } from "./recorded-stream.ts";
import { messageOfReply } from "./reply.ts";
import type { SdkMessage } from "./sdk-message.ts";

/**
 * The same model, speaking in a session: what is said is stored, every call is sent a window that fits, refused windows
 * are healed and sent again, and replies and what they used are stored. All else is the model's own.
 */
export function withLonghaul(model: LanguageModel, options: LonghaulModelOptions): LanguageModelV4 {
  const calls = new Calls(options);
  const wrapped = wrapLanguageModel({
    model: typeof model === "string" ? named(model) : model,
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ model: inner, params }) {
        if (calls.areSilent) return inner.doGenerate(params);
        const call = await begin(calls, inner, params);
        const result = await healing(call, () => inner.doGenerate(call.paramsWith(params)));
        const speaker = result.response?.modelId ?? inner.modelId;
        await call.complete(messageOfReply(result.content, speaker), result.usage);
        return result;
      },
      async wrapStream({ model: inner, params }) {
        if (calls.areSilent) return inner.doStream(params);
        const call = await begin(calls, inner, params);
        for (;;) {
          const result = await healing(call, () => inner.doStream(call.paramsWith(params)));
          const opened = await openStream(result.stream);
          if (opened.error && (await call.heals(opened.error.value))) await opened.reader.cancel();
          else return { ...result, stream: recordedStream(opened, call, options.session, inner.modelId) };
        }
      },
    },
  });
  longhaulModels.add(wrapped);
  return wrapped;
}

const longhaulModels = new WeakSet<object>();

/** True for a model that speaks in a session already. */
export function isLonghaulModel(model: LanguageModel): boolean {
  return typeof model === "object" && longhaulModels.has(model);
}

/** A model by its name alone, where the AI SDK itself would look for it. */
function named(name: string): Exclude<LanguageModel, string> {
  return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(name);
}

async function begin(
  calls: Calls,
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
): Promise<Call> {
  const { prompt, tools = [], maxOutputTokens, abortSignal } = params;
  abortSignal?.throwIfAborted();
  const frame = { model: model.modelId, tools: tools as unknown as Json, maxOutputTokens };
  try {
    return await calls.begin(prompt as readonly SdkMessage[], frame, abortSignal);
  } catch (error) {
    // Callers know an abort by the reason of their own signal.
    abortSignal?.throwIfAborted();
    throw error;
  }
}

/** Sends a call until it is answered, or refused for a reason that no other window would change. */
async function healing<T>(call: Call, send: () => PromiseLike<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(await call.heals(error))) throw error;
    }
  }
}
