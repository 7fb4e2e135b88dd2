import { LonghaulError } from "../../kernel/index.ts";

/** Describes why a database is unreadable from some point on; rethrows other errors. */
export function describeDatabaseFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const isOurs = error instanceof LonghaulError && code === "SOURCE_UNREADABLE";
  if (isOurs || code === "ERR_SQLITE_ERROR") return message;
  throw error;
}
