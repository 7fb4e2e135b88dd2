import { isLonghaulError } from "../../../kernel/index.ts";
import { ApiError } from "./api-error.ts";

/**
 * The error for messages that could not be decoded. Decoders of foreign formats rely on the shapes that the providers
 * document, and fail in many ways on others.
 */
export function toDecodeFailure(error: unknown, format: string): unknown {
  if (error instanceof ApiError || isLonghaulError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ApiError(
    "REQUEST_INVALID",
    `body: messages are not valid in the format ${format}: ${reason.slice(0, 200)}.`,
    {
      details: { place: "body" },
    },
  );
}
