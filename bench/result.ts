/** One line of a bench's result; `--json` prints exactly these keys. */
export interface Row {
  readonly id: string;
  /** Null if it could not be measured here. */
  readonly value: number | null;
  readonly unit: string;
  /** Name of the comparison: a peer, or a theoretical limit. */
  readonly beside: string | null;
  readonly besideValue: number | null;
  /** Always value / besideValue. */
  readonly ratio: number | null;
  readonly goal: string | null;
  readonly met: boolean | null;
}

/** Target of a figure, as text and as a check; the check returns null if there is no value to compare with. */
export interface Goal {
  readonly text: string;
  isMet(value: number, ratio: number | null): boolean | null;
}

/** A measured value before it is compared with its goal. */
export interface Finding {
  readonly id: string;
  readonly value: number | null;
  readonly unit: string;
  readonly beside?: string;
  readonly besideValue?: number | null;
  readonly goal?: Goal | undefined;
}

/** The value must not exceed the limit. */
export function atMost(limit: number, unit: string): Goal {
  return { text: `<= ${limit} ${unit}`.trim(), isMet: (value) => value <= limit };
}

/** The value must be at least this. */
export function atLeast(limit: number, unit: string): Goal {
  return { text: `>= ${limit} ${unit}`.trim(), isMet: (value) => value >= limit };
}

/** The value must be at least this share of the compared value. */
export function atLeastOfBeside(share: number): Goal {
  return {
    text: `>= ${share} of beside`,
    isMet: (_, ratio) => (ratio === null ? null : ratio >= share),
  };
}

/** The value must not exceed this multiple of the compared value. */
export function atMostOfBeside(multiple: number): Goal {
  return {
    text: `<= ${multiple} of beside`,
    isMet: (_, ratio) => (ratio === null ? null : ratio <= multiple),
  };
}

export function toRow({ id, value, unit, beside, besideValue = null, goal }: Finding): Row {
  // Growth can be slightly negative, and its ratio would be meaningless.
  const hasRatio = value !== null && value >= 0 && besideValue !== null && besideValue > 0;
  const ratio = hasRatio ? value / besideValue : null;
  return {
    id,
    value: rounded(value),
    unit,
    beside: beside ?? null,
    besideValue: rounded(besideValue),
    ratio: rounded(ratio),
    goal: goal?.text ?? null,
    met: goal && value !== null ? goal.isMet(value, ratio) : null,
  };
}

/** Six digits exceed the precision of all measurements. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(6));
}
