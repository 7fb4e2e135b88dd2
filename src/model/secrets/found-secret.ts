/** A piece of a text that is a secret: from `from` up to before `to`. */
export interface FoundSecret {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  /** True if the secret's own form says what it is, false if the words around it do. */
  readonly isCertain: boolean;
}

/** How what was taken out begins in the text that is left. */
export const MARK = "[redacted:";

/** Joins secrets that overlap, under the kind that is surest, else the longest; returns them in the order of the text. */
export function joinOverlapping(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const isOrdered = found.every(
    ({ from }, index) => index === 0 || from > (found[index - 1] as FoundSecret).from,
  );
  const ordered = isOrdered
    ? found
    : found.toSorted((one, other) => one.from - other.from || other.to - one.to);
  const joined: FoundSecret[] = [];
  for (const secret of ordered) {
    const last = joined.at(-1);
    if (!last || secret.from >= last.to) joined.push(secret);
    else joined[joined.length - 1] = join(last, secret);
  }
  return joined;
}

function join(one: FoundSecret, other: FoundSecret): FoundSecret {
  const lengthOf = ({ from, to }: FoundSecret) => to - from;
  const isOtherBetter = one.isCertain === other.isCertain ? lengthOf(other) > lengthOf(one) : other.isCertain;
  const best = isOtherBetter ? other : one;
  return { ...best, from: Math.min(one.from, other.from), to: Math.max(one.to, other.to) };
}
