import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { gateway, type LanguageModel } from "ai";
import { runHealLoop, type SendAttempt } from "../../kernel/calls/call-window.ts";
import type { Json } from "../../kernel/index.ts";
import type { ModelCall, ModelCalls } from "./model-call.ts";
import { type OpenedStream, openStream } from "./record-stream.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** Resolves a model given by name the way the AI SDK does. */
export function resolveLanguageModel(model: LanguageModel): Exclude<LanguageModel, string> {
  return typeof model === "string"
    ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model)
    : model;
}

/** Begins a call with the parameters from the AI SDK. */
export async function beginCall(
  calls: ModelCalls,
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
): Promise<ModelCall> {
  const { prompt, tools = [], maxOutputTokens, abortSignal } = params;
  abortSignal?.throwIfAborted();
  const frame = { model: model.modelId, tools: tools as unknown as Json, maxOutputTokens };
  try {
    return await calls.begin(prompt as readonly SdkMessage[], frame, abortSignal);
  } catch (error) {
    // Callers recognize an abort by the reason of their own signal.
    abortSignal?.throwIfAborted();
    throw error;
  }
}

/** Sends a call until it succeeds, or fails for a reason that no other window would fix; then the call ends. */
export async function sendWithHealing<T>(call: ModelCall, send: () => PromiseLike<T>): Promise<T> {
  const { answer, refusal } = await runHealLoop<T | undefined, SdkRefusal>({
    send: () => trySend(send),
    heal: ({ error }) => healOrEnd(call, error),
  });
  if (!refusal) return answer as T;
  await call.fail(refusal.error);
  throw refusal.error;
}

/** Like `sendWithHealing`, for a stream: another window can be sent until the first content arrives. */
export async function streamWithHealing<T extends { readonly stream: Parameters<typeof openStream>[0] }>(
  call: ModelCall,
  send: () => PromiseLike<T>,
): Promise<{ readonly result: T; readonly opened: OpenedStream }> {
  const { answer } = await runHealLoop<{ readonly result: T; readonly opened: OpenedStream }, SdkRefusal>({
    async send() {
      const result = await sendWithHealing(call, send);
      const opened = await openStream(result.stream);
      const { error } = opened;
      return { answer: { result, opened }, ...(error && { refusal: { error: error.value } }) };
    },
    heal: ({ error }) => healOrEnd(call, error),
    discard: ({ opened }) => opened.reader.cancel(),
  });
  return answer;
}

/** An error that the AI SDK threw or streamed. */
interface SdkRefusal {
  readonly error: unknown;
}

async function trySend<T>(send: () => PromiseLike<T>): Promise<SendAttempt<T | undefined, SdkRefusal>> {
  try {
    return { answer: await send() };
  } catch (error) {
    return { answer: undefined, refusal: { error } };
  }
}

/** True if the call can be sent again; a failure to heal it ends the call. */
async function healOrEnd(call: ModelCall, error: unknown): Promise<boolean> {
  try {
    return await call.heal(error);
  } catch (failure) {
    await call.fail(failure);
    throw failure;
  }
}
