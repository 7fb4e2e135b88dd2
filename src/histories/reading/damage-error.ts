import { LonghaulError } from "../../kernel/index.ts";

/** Creates the error for a file that is damaged from some point on; everything read before is valid. */
export function createDamageError(path: string, what: string, cause: unknown): LonghaulError {
  return new LonghaulError("SOURCE_UNREADABLE", `${path} ${what}: ${(cause as Error).message}.`, {
    cause,
    details: { path, isDamaged: true },
  });
}

/** Tells whether a read failed because a file is damaged or cut short. */
export function isDamageError(error: unknown): boolean {
  return error instanceof LonghaulError && error.details.isDamaged === true;
}
