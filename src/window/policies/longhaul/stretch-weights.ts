/** Facts about a stretch of a file when content has to leave the window. */
export interface StretchFeatures {
  /** Where it stands: in the output of a read, in a written file, or in the new text of an edit. */
  readonly kind: "read" | "write" | "edit";
  /** Replies since it was shown. */
  readonly age: number;
  /** Number of edits of its file. */
  readonly edits: number;
  /** Lines of the text that it is a part of. */
  readonly lines: number;
  readonly isTest: boolean;
  /** True for prose and data, which are edited far less often than code. */
  readonly isProse: boolean;
  /** Stretches between it and the nearest one that was edited since; undefined if none was. */
  readonly distance: number | undefined;
  /** Share of its words that were named since it was shown, and number of those named within the last replies. */
  readonly namedShare: number;
  readonly recentWords: number;
  /** True if its file was named since it was shown. */
  readonly isNamed: boolean;
  /** True if it was shown since the newest message of a person. */
  readonly isInTurn: boolean;
  /** True if one of the last replies has read or edited its file. */
  readonly isJustTouched: boolean;
}

/** Weights of a logistic regression over coding sessions; `node training/stretches/fit.ts` makes them. */
const WEIGHTS = {
  base: -2.93,
  isWrite: 0.32,
  isEdit: 0.31,
  age: -0.44,
  isEdited: 0.83,
  edits: 0.17,
  lines: 0.13,
  isTest: -0.16,
  isProse: -1.41,
  hasDistance: -0.39,
  distance: -0.01,
  namedShare: 0.42,
  recentWords: 0.22,
  isNamed: 0.36,
  isInTurn: -0.28,
  isUneditedInTurn: 0.86,
  isJustTouched: 0.69,
};

/** The names of the weights, in the order of `listTerms`. */
export const TERMS = Object.keys(WEIGHTS);
const FACTORS = Object.values(WEIGHTS);

/** The terms whose weighted sum gives the chance. */
export function listTerms(features: StretchFeatures): readonly number[] {
  const { kind, age, edits, lines, distance, isInTurn } = features;
  return [
    1,
    Number(kind === "write"),
    Number(kind === "edit"),
    log2(age),
    Number(edits > 0),
    log2(edits),
    log2(lines / 24),
    Number(features.isTest),
    Number(features.isProse),
    Number(distance !== undefined),
    distance === undefined ? 0 : log2(Math.min(8, distance)),
    features.namedShare,
    log2(features.recentWords),
    Number(features.isNamed),
    Number(isInTurn),
    Number(isInTurn && edits === 0),
    Number(features.isJustTouched),
  ];
}

/** The chance that one of the next 30 replies edits a stretch. */
export function estimateEditChance(features: StretchFeatures): number {
  const sum = listTerms(features).reduce(
    (total, term, index) => total + term * (FACTORS[index] as number),
    0,
  );
  return 1 / (1 + Math.exp(-sum));
}

function log2(count: number): number {
  return Math.log2(1 + count);
}
