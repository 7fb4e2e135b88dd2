import { scanIdentifiers } from "../extract/scan-identifiers.ts";

/** Words of a question that stand in it literally. */
export interface AskedLiterals {
  /** Paths, file names and quoted words: the question asks for results of calls that name one. */
  readonly subjects: readonly string[];
  /** These and other names: the question may ask for a line that contains one. */
  readonly names: readonly string[];
}

const QUOTED = /[`"'“”‘’]([^`"'“”‘’\n]{4,200})[`"'“”‘’]/g;
const FILE_NAME = /\.[A-Za-z][A-Za-z0-9]{0,7}$/;
const MIN_CHARACTERS = 4;
const MAX_LITERALS = 200;

/** The names, paths and quoted words of a question. */
export function findAskedLiterals(question: string): AskedLiterals {
  const subjects = new Set<string>();
  const names = new Set<string>();
  for (const [, quoted] of question.matchAll(QUOTED)) subjects.add((quoted as string).trim());
  scanIdentifiers(question, false, (name) => {
    if (name.includes("/") || FILE_NAME.test(name)) subjects.add(name);
    else names.add(name);
  });
  return { subjects: limit(subjects), names: limit([...subjects, ...names]) };
}

/** True if a text contains one of the literals. */
export function hasLiteral(text: string, literals: readonly string[]): boolean {
  return literals.some((literal) => text.includes(literal));
}

function limit(literals: Iterable<string>): readonly string[] {
  return [...new Set(literals)].filter(({ length }) => length >= MIN_CHARACTERS).slice(0, MAX_LITERALS);
}
