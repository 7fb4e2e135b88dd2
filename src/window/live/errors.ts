import { LonghaulError } from "../../model/errors.ts";

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

/** The prompt fits, and the caller still asks for more output than there is room for. */
export function outputError(maxOutputTokens: number, model: string): LonghaulError {
  return new LonghaulError(
    "WINDOW_OVERFLOW",
    `The messages fit ${model}, the output that was asked for does not. Ask for at most ${maxOutputTokens} tokens of output.`,
    { details: { model, maxOutputTokens } },
  );
}

/** Edits that free nothing are stopped. */
export function stuckError(edits: number, tokens: number, mostTokens: number): LonghaulError {
  return new LonghaulError(
    "WINDOW_STUCK",
    `${edits} edits in a row did not make the window smaller: ${tokens} tokens, ${mostTokens} fit. Choose another policy, or take a model with a larger window.`,
    { details: { edits, tokens, mostTokens } },
  );
}
