/** One line of a bench's result; `--json` prints exactly these keys. */
export interface Row {
  readonly id: string;
  /** Null when it could not be measured here. */
  readonly value: number | null;
  readonly unit: string;
  /** What was measured beside it: a peer, or a limit that nothing can be faster than. */
  readonly beside: string | null;
  readonly besideValue: number | null;
  /** Always value / besideValue. */
  readonly ratio: number | null;
  readonly goal: string | null;
  readonly met: boolean | null;
}

/** What a figure is to reach, in words and as a check; null when there is nothing to check against. */
export interface Goal {
  readonly text: string;
  isMet(value: number, ratio: number | null): boolean | null;
}

/** What a measurement found, before it is compared with its goal. */
export interface Finding {
  readonly id: string;
  readonly value: number | null;
  readonly unit: string;
  readonly beside?: string;
  readonly besideValue?: number | null;
  readonly goal?: Goal | undefined;
}

/** The value itself must not be above the limit. */
export function atMost(limit: number, unit: string): Goal {
  return { text: `<= ${limit} ${unit}`.trim(), isMet: (value) => value <= limit };
}

/** The value must be at least this share of what it is beside. */
export function atLeastOfBeside(share: number): Goal {
  return {
    text: `>= ${share} of beside`,
    isMet: (_, ratio) => (ratio === null ? null : ratio >= share),
  };
}

/** The value must not be above this multiple of what it is beside. */
export function atMostOfBeside(multiple: number): Goal {
  return {
    text: `<= ${multiple} of beside`,
    isMet: (_, ratio) => (ratio === null ? null : ratio <= multiple),
  };
}

/** The row of a finding. */
export function toRow({ id, value, unit, beside, besideValue = null, goal }: Finding): Row {
  // Growth can come out a little below nothing, and a share of that says nothing.
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

/** Six digits are more than any of these measurements can promise. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(6));
}
