import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { gateway, type LanguageModel } from "ai";
import type { Json } from "../index.ts";
import type { Call, Calls } from "./call.ts";
import { type OpenedStream, openStream } from "./recorded-stream.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** A model that can be wrapped: by its name alone, it is looked for where the AI SDK itself would. */
export function modelOf(model: LanguageModel): Exclude<LanguageModel, string> {
  return typeof model === "string"
    ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model)
    : model;
}

/** Begins a call with the parameters that the AI SDK has made for it. */
export async function beginCall(
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
export async function healing<T>(call: Call, send: () => PromiseLike<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(await call.heals(error))) throw error;
    }
  }
}

/** The same for a stream: until something of an answer has come, another window can be sent. */
export async function healingStream<T extends { readonly stream: Parameters<typeof openStream>[0] }>(
  call: Call,
  send: () => PromiseLike<T>,
): Promise<{ readonly result: T; readonly opened: OpenedStream }> {
  for (;;) {
    const result = await healing(call, send);
    const opened = await openStream(result.stream);
    if (!opened.error || !(await call.heals(opened.error.value))) return { result, opened };
    await opened.reader.cancel();
  }
}
