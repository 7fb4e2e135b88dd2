import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { type ErrorCode, LonghaulError } from "../../../model/errors.ts";

/** Meaning of an error of PostgreSQL or of its connection for a caller that could try again. */
type FailureKind =
  /** The connection is gone or could not be made; whether a running statement took effect is unknown. */
  | "connection"
  /** The server rolled the transaction back because of others; the same transaction may succeed now. */
  | "conflict"
  | "final";

/** Error codes of PostgreSQL after which the server has ended the connection or refused it for a while. */
const CONNECTION_STATES = /^(?:08...|57P0[1235]|53300|25006|57P04)$/;
const CONFLICT_STATES = /^(?:40001|40P01|55P03)$/;
const NETWORK_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);

const CODE_BY_STATE: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^53100$|^53200$/, "DISK_FULL"],
  [/^25006$|^42501$/, "STORE_READ_ONLY"],
  [/^53300$|^40001$|^40P01$|^55P03$|^57014$/, "STORE_BUSY"],
  [/^XX00[12]$|^42P01$|^42703$/, "STORE_CORRUPT"],
  // Data that a column cannot hold, such as a text with a null byte, and rows that a constraint refuses.
  [/^2[23]...$|^54000$/, "VALUE_REFUSED"],
];

const MESSAGES: Partial<Record<ErrorCode, (where: string) => string>> = {
  DISK_FULL: (where) =>
    `The server of ${where} has no room left; free some space there and repeat the call. Nothing was changed.`,
  STORE_READ_ONLY: (where) =>
    `${where} cannot be written: the server is a standby or the user lacks the right; connect to the primary, or grant the user its schema. Nothing was changed.`,
  STORE_BUSY: (where) =>
    `${where} stayed busy with other work or has no free connection; repeat the call, lower max_connections, or raise busyTimeoutMs. Nothing was changed.`,
  STORE_CORRUPT: (where) =>
    `A table of ${where} is damaged or missing; restore the database from a backup, or name another schema.`,
  VALUE_REFUSED: (where) =>
    `${where} cannot hold a value of this write; correct the value that the reason names. Nothing was changed.`,
  STORE_IO: (where) =>
    `${where} failed; check that the server runs, and its address, user and database in the URL.`,
};

/** SQLSTATE of an error; undefined if it has none. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof LonghaulError) return "final";
  const state = sqlStateOf(error);
  if (state !== undefined) {
    if (CONNECTION_STATES.test(state)) return "connection";
    return CONFLICT_STATES.test(state) ? "conflict" : "final";
  }
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string" && NETWORK_CODES.has(code)) return "connection";
  // pg names these failures by their messages only.
  const isLost = /connection|terminated|not queryable|timeout|timed out|socket|client was closed/i;
  return typeof message === "string" && isLost.test(message) ? "connection" : "final";
}

/** Converts an error of PostgreSQL to its documented code; returns others unchanged. */
export function toPostgresError(error: unknown, where: string): unknown {
  if (error instanceof LonghaulError) return error;
  const state = sqlStateOf(error);
  const code =
    CODE_BY_STATE.find(([states]) => state !== undefined && states.test(state))?.[1] ??
    (state !== undefined || classifyFailure(error) === "connection" ? "STORE_IO" : undefined);
  if (code === undefined) return error;
  return createPostgresError(code, where, error);
}

/** The refusal of a table that a restricted reader may not read; undefined for other errors. */
export function findReaderRefusal(error: unknown, where: string): LonghaulError | undefined {
  if (sqlStateOf(error) !== "42501") return undefined;
  return new LonghaulError(
    "STORE_READ_ONLY",
    `${where} was opened for one reader (\`reader\`), and this call needs a table that holds the content of all people, such as the words of the index. Recall on a store without \`reader\` and name the people in \`scope.owners\`, or through a gateway with the person's token. Nothing was changed. (${(error as Error).message})`,
    { cause: error, details: { store: where, sqlState: "42501" } },
  );
}

/** The error of a code about a database. */
function createPostgresError(code: ErrorCode, where: string, cause?: unknown): LonghaulError {
  const reason = cause instanceof Error && cause.message ? ` (${cause.message})` : "";
  const state = sqlStateOf(cause);
  return new LonghaulError(code, `${MESSAGES[code]?.(where) ?? `${where} failed.`}${reason}`, {
    cause,
    details: { store: where, ...dropUndefined({ sqlState: state }) },
  });
}

/** An error that makes a transaction run again. */
export function createRetry(reason: string): Error {
  return Object.assign(new Error(reason), { code: "40001", severity: "ERROR" });
}
