import { type ErrorDetails, isLonghaulError } from "../../../kernel/index.ts";
import { API_ERRORS, ApiError, type ApiErrorCode, type ErrorRule } from "./api-error.ts";
import { KERNEL_ERRORS } from "./kernel-error-rules.ts";

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

/** The JSON form of every error. */
interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly remedy: string;
    readonly details: ErrorDetails;
  };
}

/** The reply to a failed request. */
interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: ErrorBody;
  /** True if the error is a defect that the log must show. */
  readonly isUnexpected: boolean;
}

/** The reply to a failure. Unexpected errors reveal no internals. */
export function toErrorReply(error: unknown): ErrorReply {
  if (error instanceof ApiError) {
    const { code, message, details, headers } = error;
    return buildReply(API_ERRORS[code], { code, message, details }, headers);
  }
  if (isLonghaulError(error)) {
    const { code, message, details } = error;
    return buildReply(KERNEL_ERRORS[code], { code, message, details });
  }
  const message = "The gateway failed to answer the request.";
  return {
    ...buildReply(API_ERRORS.UNEXPECTED, { code: "UNEXPECTED", message, details: {} }),
    isUnexpected: true,
  };
}

function buildReply(
  { status, remedy }: ErrorRule,
  { code, message, details }: Omit<ErrorBody["error"], "remedy">,
  headers: Readonly<Record<string, string>> = {},
): ErrorReply {
  const isUnexpected = status === 500;
  return { status, headers, json: { error: { code, message, remedy, details } }, isUnexpected };
}

/** The error for a request that the server refuses before it reaches a route. */
export function createDoorError(
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): ApiError {
  return new ApiError(CODES[status] ?? "REQUEST_INVALID", message, headers && { headers });
}
