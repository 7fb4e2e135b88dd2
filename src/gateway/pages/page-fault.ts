import { ApiError, toErrorReply } from "../../api/jobs/index.ts";
import { type ErrorDetails, isLonghaulError } from "../../index.ts";

/** An error reply of a page; the message gives the reason and a remedy. */
export class PageFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The reply to a failed request for a page. */
interface PageFaultReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: { readonly code: string; readonly message: string; readonly details: ErrorDetails };
}

const STATUS: Readonly<Record<string, number>> = {
  ARGUMENT_INVALID: 400,
  ENTRY_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  CLOSED: 503,
  STORE_BUSY: 503,
};

/** The reply to a failure of a page. Unexpected errors reveal no internals. */
export function toFaultReply(error: unknown): PageFaultReply {
  if (error instanceof PageFault) {
    const { status, code, message, headers } = error;
    return { status, headers, error: { code, message, details: {} } };
  }
  if (error instanceof ApiError) {
    const { status, headers, json } = toErrorReply(error);
    const { code, message, remedy } = json.error;
    const own = code === "REQUEST_INVALID" ? "ARGUMENT_INVALID" : code;
    return { status, headers, error: { code: own, message: `${message} ${remedy}`, details: {} } };
  }
  if (isLonghaulError(error)) {
    const { code, message, details } = error;
    return { status: STATUS[code] ?? 500, headers: {}, error: { code, message, details } };
  }
  const message = "The page failed; see the gateway's log.";
  return { status: 500, headers: {}, error: { code: "UNEXPECTED", message, details: {} } };
}

/** The fault for an invalid query argument. */
export function createArgumentFault(name: string, value: string, expected: string): PageFault {
  return new PageFault(
    400,
    "ARGUMENT_INVALID",
    `${name} is ${JSON.stringify(value.slice(0, 80))}; expected ${expected}.`,
  );
}
