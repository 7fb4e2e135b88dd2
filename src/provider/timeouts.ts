import { wholeNumber } from "../model/errors.ts";

/** How long one call may take. */
export interface Timeouts {
  /** Until anything of the answer has come. */
  readonly firstByteMs: number;
  /** Between two pieces of a streamed answer. */
  readonly idleMs: number;
  /** Until the answer is complete. */
  readonly totalMs: number;
}

/** Long enough for a local model to read a long prompt, and for one that thinks in silence. */
export const defaultTimeouts: Timeouts = { firstByteMs: 180_000, idleMs: 180_000, totalMs: 600_000 };

/** The longest that a timer of Node can wait. */
const longestMs = 2_147_483_647;

/** The timeouts of a call: the first that says something decides. */
export function timeoutsOf(...wishes: readonly (Partial<Timeouts> | undefined)[]): Timeouts {
  const chosen = (name: keyof Timeouts): number => {
    const wished = wishes.find((wish) => wish?.[name] !== undefined)?.[name] ?? defaultTimeouts[name];
    return wholeNumber(`timeouts.${name}`, wished, 1, longestMs);
  };
  return { firstByteMs: chosen("firstByteMs"), idleMs: chosen("idleMs"), totalMs: chosen("totalMs") };
}
