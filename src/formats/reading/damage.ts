import { LonghaulError } from "../../index.ts";

/** The error of a file that is broken from some place on: what was read before it is good. */
export function damaged(path: string, what: string, cause: unknown): LonghaulError {
  return new LonghaulError("SOURCE_UNREADABLE", `${path} ${what}: ${(cause as Error).message}.`, {
    cause,
    details: { path, isDamaged: true },
  });
}

/** Tells whether reading failed because a file is damaged or cut short. */
export function isDamaged(error: unknown): boolean {
  return error instanceof LonghaulError && error.details.isDamaged === true;
}
