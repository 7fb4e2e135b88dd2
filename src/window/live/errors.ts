import { LonghaulError } from "../../model/errors.ts";
import type { Compared } from "../../model/receipt.ts";

/** What may not be cut is more than the model takes. */
export function floorError(
  floorTokens: number,
  mostTokens: number,
  model: string,
  isClipping = false,
): LonghaulError {
  const what = isClipping
    ? "system prompt, tools, pins"
    : "system prompt, tools, pins, the first request, the last exchange";
  const remedy = isClipping
    ? "Unpin something"
    : 'Unpin something, shorten the last message, set oversize: "clip"';
  return new LonghaulError(
    "WINDOW_FLOOR",
    `What may not be cut (${what}) takes ${floorTokens} tokens; ${mostTokens} fit ${model}. ${remedy}, or take a model with a larger window.`,
    { details: { floorTokens, mostTokens, model } },
  );
}

/** The window cannot be made small enough. */
export function overflowError(message: string, model: string, cause?: unknown): LonghaulError {
  return new LonghaulError("WINDOW_OVERFLOW", `${message} (${model})`, {
    details: { model },
    ...(cause !== undefined && { cause }),
  });
}

/** A policy cannot make a window small enough. */
export function stuckError(policy: string, tokens: Compared, mostTokens: number): LonghaulError {
  return new LonghaulError(
    "WINDOW_STUCK",
    `The window takes ${tokens.without} tokens, ${tokens.with} after an edit by the policy ${policy}; ${mostTokens} fit. Choose another policy, or take a model with a larger window.`,
    { details: { policy, tokens: tokens.with, mostTokens } },
  );
}
