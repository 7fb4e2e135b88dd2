import { checkWholeNumber } from "../../model/errors.ts";

/** Timeouts of a single call. */
export interface Timeouts {
  /** Until the first byte of the answer. */
  readonly firstByteMs: number;
  /** Between two chunks of a streamed answer. */
  readonly idleMs: number;
  /** Until the answer is complete. */
  readonly totalMs: number;
}

/** Long enough for a local model to read a long prompt, and for a model that thinks without output. */
export const defaultTimeouts: Timeouts = { firstByteMs: 180_000, idleMs: 180_000, totalMs: 600_000 };

/** The longest delay that a Node timer supports. */
const maxTimerMs = 2_147_483_647;

/** The timeouts of a call: the first argument that sets a value wins, then the default. */
export function resolveTimeouts(...wishes: readonly (Partial<Timeouts> | undefined)[]): Timeouts {
  const chosen = (name: keyof Timeouts): number => {
    const wished = wishes.find((wish) => wish?.[name] !== undefined)?.[name] ?? defaultTimeouts[name];
    return checkWholeNumber(`timeouts.${name}`, wished, 1, maxTimerMs);
  };
  return { firstByteMs: chosen("firstByteMs"), idleMs: chosen("idleMs"), totalMs: chosen("totalMs") };
}
