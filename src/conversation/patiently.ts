import { isLonghaulError, LonghaulError } from "../index.ts";

/** Others that write to the same line at the same time come to an end sooner. */
const MOST_TRIES = 50;

/** Tries again what somebody else has come between: until something comes of it, and the line was as expected. */
export async function patiently<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await work();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isLonghaulError(error, "NOT_ON_LINE")) throw error;
    }
    if (tries >= MOST_TRIES)
      throw new LonghaulError(
        "POSITION_CONFLICT",
        `Others have changed the line of this session ${tries} times in a row; try again when they are done.`,
      );
  }
}
