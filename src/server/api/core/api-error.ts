import type { ErrorDetails } from "../../../kernel/index.ts";

/** Status and remedy of an error. */
export interface ErrorRule {
  readonly status: number;
  readonly remedy: string;
}

/** Errors of the API itself; errors of the kernel keep their own codes. */
export const API_ERRORS = {
  REQUEST_INVALID: { status: 400, remedy: "Correct the request; /openapi.json describes it." },
  UNAUTHORIZED: {
    status: 401,
    remedy: "Send a token as Authorization: Bearer, x-api-key or x-longhaul-token.",
  },
  SIGN_IN_FAILED: {
    status: 403,
    remedy: "Begin the sign-in again; an admin adds people and sets up the provider.",
  },
  FORBIDDEN: { status: 403, remedy: "Ask the person who runs the gateway." },
  ROUTE_NOT_FOUND: {
    status: 404,
    remedy: "/openapi.json lists the routes; an id in a path is percent-encoded, with / as %2F.",
  },
  JOB_NOT_FOUND: {
    status: 404,
    remedy: "GET /api/v1/jobs lists the jobs; ended ones are kept for a while only.",
  },
  BLOB_ABSENT: { status: 404, remedy: "The parts of the entry name the digests of its blobs." },
  METHOD_NOT_ALLOWED: { status: 405, remedy: "Use one of the methods in the Allow header." },
  REQUEST_TIMEOUT: { status: 408, remedy: "Send the body faster, or raise limits.bodyMs." },
  SESSION_EXISTS: { status: 409, remedy: "Choose another id, or use the session that exists." },
  PREVIEW_CHANGED: {
    status: 409,
    remedy: "Ask for the preview again, check it, and send its new `confirm`.",
  },
  BODY_TOO_LARGE: { status: 413, remedy: "Send less, or raise limits.maxBodyBytes." },
  REPLAY_TOO_LONG: { status: 413, remedy: 'Use "longhaul replay" on the command line.' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, remedy: "Send JSON with Content-Type: application/json." },
  JOB_BUSY: { status: 429, remedy: "Wait for the running job, or stop it with DELETE /api/v1/jobs/{job}." },
  LIMIT_REACHED: { status: 429, remedy: "Wait until the time in Retry-After has passed, then try again." },
  UNEXPECTED: { status: 500, remedy: "See the gateway's log." },
  UNAVAILABLE: { status: 503, remedy: "Try again in a moment." },
} as const satisfies Readonly<Record<string, ErrorRule>>;

export type ApiErrorCode = keyof typeof API_ERRORS;

interface ApiErrorOptions {
  readonly details?: ErrorDetails;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the API answers a request with. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly details: ErrorDetails;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, { details = {}, headers = {} }: ApiErrorOptions = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}
