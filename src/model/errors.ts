/** Every code a LonghaulError can have; docs/errors.md describes causes and remedies. */
export const ERROR_CODES = [
  "ABORTED",
  "AGENT_FILE_REFUSED",
  "ARGUMENT_INVALID",
  "BACKUP_INVALID",
  "BASE64_INVALID",
  "BLOB_CORRUPT",
  "BLOB_NOT_FOUND",
  "BLOB_TOO_LARGE",
  "CHECKOUT_MISSING",
  "CLOSED",
  "CLOSE_FAILED",
  "CODEC_UNAVAILABLE",
  "COMPACTION_BUSY",
  "CONFIG_INVALID",
  "DISK_FULL",
  "DRAFT_FINISHED",
  "EDIT_LIMIT",
  "EDIT_NOT_FOUND",
  "EMBEDDER_DAMAGED",
  "ENTRY_NOT_FOUND",
  "ENTRY_TOO_LARGE",
  "GIT_FAILED",
  "INTAKE_CONFLICT",
  "LINE_LIMIT",
  "MEMORY_REFUSED",
  "MIME_MISMATCH",
  "NOT_ON_LINE",
  "PACKAGE_MISSING",
  "PATH_REFUSED",
  "PERSON_BLOCKED",
  "PERSON_EXISTS",
  "PERSON_NOT_FOUND",
  "PORT_TAKEN",
  "POSITION_CONFLICT",
  "PROCESSES_HIDDEN",
  "PROGRAM_NOT_STARTED",
  "PROVIDER_FAILED",
  "PROVIDER_REFUSED",
  "PROVIDER_TIMEOUT",
  "PROVIDER_UNCONFIGURED",
  "SCHEMA_TOO_NEW",
  "SERVICE_FAILED",
  "SESSION_HAS_CHILDREN",
  "SESSION_LIMIT",
  "SESSION_NOT_FOUND",
  "SOURCE_CONFLICT",
  "SOURCE_UNREADABLE",
  "STORE_BUSY",
  "STORE_CORRUPT",
  "STORE_FOREIGN",
  "STORE_IO",
  "STORE_READ_ONLY",
  "TASK_CONFLICT",
  "TASK_FAILED",
  "TASK_LIMIT",
  "TASK_NOT_FOUND",
  "VALUE_REFUSED",
  "WINDOW_FLOOR",
  "WINDOW_OVERFLOW",
  "WINDOW_STUCK",
  "WORKTREE_REFUSED",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Facts about a failure for programs; docs/errors.md lists them by code. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** The error class of longhaul: `code` for programs, `message` with value and remedy for people. */
export class LonghaulError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "LonghaulError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Whether `error` is a LonghaulError, optionally with a given code. */
export function isLonghaulError(error: unknown, code?: ErrorCode): error is LonghaulError {
  return error instanceof LonghaulError && (code === undefined || error.code === code);
}

/** The ARGUMENT_INVALID error, naming the option and showing its value. */
export function createArgumentError(option: string, value: unknown, expected: string): LonghaulError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : describeValue(value);
  return new LonghaulError("ARGUMENT_INVALID", `${option} is ${shown}; expected ${expected}.`, {
    details: { option },
  });
}

function describeValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (value === null || typeof value !== "object") return String(value);
  return Array.isArray(value)
    ? `an array of ${value.length}`
    : `an object (${value.constructor?.name ?? "no prototype"})`;
}

/** Returns `value` if it is an integer within the bounds, else throws ARGUMENT_INVALID. */
export function checkWholeNumber(
  option: string,
  value: number,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const upTo = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw createArgumentError(option, value, `a whole number ${upTo}`);
}

/** Throws ABORTED if the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new LonghaulError("ABORTED", "The call was aborted by its signal.", { cause: signal.reason });
}
