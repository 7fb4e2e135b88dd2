import { LonghaulError } from "../../index.ts";

/** Why a database cannot be read, or not further. What has another cause is thrown again. */
export function databaseFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const isOurs = error instanceof LonghaulError && code === "SOURCE_UNREADABLE";
  if (isOurs || code === "ERR_SQLITE_ERROR") return message;
  throw error;
}
