import { type ErrorDetails, isLonghaulError } from "../../../kernel/index.ts";
import { API_ERRORS, ApiError, type ErrorRule } from "./api-error.ts";
import { KERNEL_ERRORS } from "./kernel-error-rules.ts";

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
