import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { Comparison } from "../../model/receipt.ts";

/** Error for content that may not be cut but exceeds the model's limit. */
export function createFloorError(
  floorTokens: number,
  mostTokens: number,
  model: string,
  isClipping = false,
): LonghaulError {
  const what = isClipping
    ? "system prompt, tools, pins, the newest user message, the latest reply"
    : "system prompt, tools, pins, the first request, the last exchange";
  const remedy = isClipping
    ? "Unpin something, shorten the newest message"
    : 'Unpin something, shorten the last message, set oversize: "clip"';
  return new LonghaulError(
    "WINDOW_FLOOR",
    `What may not be cut (${what}) takes ${floorTokens} tokens; ${mostTokens} fit ${model}. ${remedy}, or take a model with a larger window.`,
    { details: { floorTokens, mostTokens, model } },
  );
}

/** Error for a window that cannot be made small enough. */
export function createOverflowError(message: string, model: string, cause?: unknown): LonghaulError {
  return new LonghaulError("WINDOW_OVERFLOW", `${message} (${model})`, {
    details: { model },
    ...dropUndefined({ cause }),
  });
}

/** Error for a prompt that fits while the caller still asks for more output than there is room for. */
export function createOutputError(maxOutputTokens: number, model: string): LonghaulError {
  return new LonghaulError(
    "WINDOW_OVERFLOW",
    `The messages fit ${model}, the output that was asked for does not. Ask for at most ${maxOutputTokens} tokens of output.`,
    { details: { model, maxOutputTokens } },
  );
}

/** Error for a policy that cannot make a window small enough. */
export function createStuckError(policy: string, tokens: Comparison, mostTokens: number): LonghaulError {
  return new LonghaulError(
    "WINDOW_STUCK",
    `The window takes ${tokens.without} tokens, ${tokens.with} after an edit by the policy ${policy}; ${mostTokens} fit. Choose another policy, or take a model with a larger window.`,
    { details: { policy, tokens: tokens.with, mostTokens } },
  );
}
