import { LonghaulError } from "../../model/errors.ts";

/** What may not be cut is more than the model takes. */
export function floorError(
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

/** The window cannot be made small enough. */
export function overflowError(message: string, model: string, cause?: unknown): LonghaulError {
  return new LonghaulError("WINDOW_OVERFLOW", `${message} (${model})`, {
    details: { model },
    ...(cause !== undefined && { cause }),
  });
}

/** Edits that free nothing are stopped. */
export function stuckError(edits: number, tokens: number, mostTokens: number): LonghaulError {
  return new LonghaulError(
    "WINDOW_STUCK",
    `${edits} edits in a row did not make the window smaller: ${tokens} tokens, ${mostTokens} fit. Choose another policy, or take a model with a larger window.`,
    { details: { edits, tokens, mostTokens } },
  );
}
