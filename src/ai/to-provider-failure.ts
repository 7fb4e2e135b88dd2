import type { ProviderFailure } from "../window-entry.ts";

/** Extracts status, body and message from an error that the AI SDK threw or streamed. */
export function toProviderFailure(error: unknown): ProviderFailure {
  if (typeof error === "string") return { message: error };
  if (typeof error !== "object" || error === null) return {};
  const { statusCode, responseBody, data, message } = error as { readonly [field: string]: unknown };
  const body = responseBody ?? data ?? (error instanceof Error ? undefined : error);
  return {
    ...(typeof statusCode === "number" && { status: statusCode }),
    ...(body !== undefined && { body }),
    ...(typeof message === "string" && { message }),
  };
}
