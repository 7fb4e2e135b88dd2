import { isLonghaulError, LonghaulError } from "../index.ts";

/** Concurrent writers to the same line normally finish long before this. */
const MAX_TRIES = 50;

/**
 * Retries `work` while concurrent writers change the line: until it returns a value and throws neither NOT_ON_LINE nor
 * POSITION_CONFLICT.
 * Throws POSITION_CONFLICT after 50 tries.
 */
export async function retryOnConflict<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await work();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isLonghaulError(error, "NOT_ON_LINE") && !isLonghaulError(error, "POSITION_CONFLICT")) throw error;
    }
    if (tries >= MAX_TRIES)
      throw new LonghaulError(
        "POSITION_CONFLICT",
        `Others have changed the line of this session ${tries} times in a row; try again when they are done.`,
      );
  }
}
