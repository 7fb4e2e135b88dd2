/** A difference of means with its 95 % interval. */
export interface BootstrapInterval {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

const SAMPLES = 2_000;
const TAIL = 0.025;
const SEED = 0x9e3779b9;

/**
 * The difference of the means of two groups, and the range of 95 % of the differences when both groups are drawn again
 * with replacement. The draws are always the same, so that a report does not change by itself.
 */
export function computeBootstrapInterval(
  one: readonly number[],
  other: readonly number[],
): BootstrapInterval {
  const difference = computeMean(other) - computeMean(one);
  if (one.length === 0 || other.length === 0) return { difference, low: Number.NaN, high: Number.NaN };
  const draw = createDraw();
  const differences = Float64Array.from(
    { length: SAMPLES },
    () => drawMean(other, draw) - drawMean(one, draw),
  );
  differences.sort();
  const at = (share: number) => differences[Math.round(share * (SAMPLES - 1))] as number;
  return { difference, low: at(TAIL), high: at(1 - TAIL) };
}

/** The mean; NaN of nothing. */
export function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function drawMean(values: readonly number[], draw: () => number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++)
    sum += values[Math.floor(draw() * values.length)] as number;
  return sum / values.length;
}

/** Numbers from 0 to 1, from a linear congruence with a good multiplier for 32 bits. */
function createDraw(): () => number {
  let state = SEED;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
