import { ApiError, type ApiErrorCode } from "./api-error.ts";

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "ROUTE_NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  408: "REQUEST_TIMEOUT",
  413: "BODY_TOO_LARGE",
  415: "MEDIA_TYPE_UNSUPPORTED",
  429: "LIMIT_REACHED",
  503: "UNAVAILABLE",
};

/** The error for a request that the server refuses before it reaches a route. */
export function createDoorError(
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): ApiError {
  return new ApiError(CODES[status] ?? "REQUEST_INVALID", message, headers && { headers });
}
