/** Runs of characters that names, paths, numbers and hashes are made of. */
const RUN = /[\w$@~.+\-/]+/g;
const DIGITS = /^\d+$/;
const HASH = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/;
/** What words of a language seldom have and names in code do: an underscore, a digit, a hump, a dot inside. */
const SHAPED = /_|\d|[a-z][A-Z]|\w\.\w/;
const MIN_RUN = 4;
const MAX_RUN = 300;

/** Hears of an identifier; `isWhole` is false for what is only found inside another one. */
export type TellIdentifier = (identifier: string, isWhole: boolean) => void;

/**
 * Tells the identifiers of a text: paths, symbols, long numbers, hashes. With `isWide` also what a search would find
 * inside them: the ends of paths and the pieces of dotted names.
 */
export function identifiersOf(text: string, isWide: boolean, tell: TellIdentifier): void {
  for (const [run] of text.matchAll(RUN)) {
    if (run.length < MIN_RUN || run.length > MAX_RUN) continue;
    const name = trimmed(run);
    if (name.includes("/")) pathOf(name, isWide, tell);
    else for (const piece of name.split(/[-+@~]+/)) dottedOf(piece, true, isWide, tell);
  }
}

function trimmed(run: string): string {
  return run.replace(/^(?:\.\/|[.+\-@~])+/, "").replace(/[.+\-/@~]+$/, "");
}

function pathOf(path: string, isWide: boolean, tell: TellIdentifier): void {
  if (path.length < 5 || !/[A-Za-z]{2}/.test(path)) return;
  tell(path, true);
  if (!isWide) return;
  const pieces = path.split("/").filter(Boolean);
  for (let from = 1; from < pieces.length - 1; from++) tell(pieces.slice(from).join("/"), false);
  for (const piece of pieces) dottedOf(piece, false, true, tell);
}

function dottedOf(piece: string, isWhole: boolean, isWide: boolean, tell: TellIdentifier): void {
  const name = piece.replace(/^\.+|\.+$/g, "");
  if (isName(name)) tell(name, isWhole);
  if (!isWide || !name.includes(".")) return;
  const pieces = name.split(".");
  for (const [index, inner] of pieces.entries()) {
    if (isName(inner)) tell(inner, false);
    if (index === 0 || index === pieces.length - 1) continue;
    const rest = pieces.slice(index).join(".");
    if (isName(rest)) tell(rest, false);
  }
}

function isName(word: string): boolean {
  if (DIGITS.test(word)) return word.length >= 4;
  return (word.length >= 5 && /[A-Za-z]/.test(word) && SHAPED.test(word)) || HASH.test(word);
}
