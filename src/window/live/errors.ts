import { LonghaulError } from "../../model/errors.ts";

/** What may not be cut is more than the model takes. */
export function floorError(floorTokens: number, mostTokens: number, model: string): LonghaulError {
  return new LonghaulError(
    "WINDOW_FLOOR",
    `What may not be cut (system prompt, tools, pins, the first request, the last exchange) takes ${floorTokens} tokens; ${mostTokens} fit ${model}. Unpin something, shorten the last message, set oversize: "clip", or take a model with a larger window.`,
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
