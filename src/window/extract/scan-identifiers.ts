/** Classes of the characters in names, paths, numbers and hashes. TELLING characters mark a run as an identifier. */
const [LOWER, UPPER, TELLING, DOT, OTHER] = [1, 2, 3, 4, 5];
const KINDS = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyz") KINDS[character.charCodeAt(0)] = LOWER;
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") KINDS[character.charCodeAt(0)] = UPPER;
for (const character of "0123456789_/") KINDS[character.charCodeAt(0)] = TELLING;
for (const character of "$@~+-") KINDS[character.charCodeAt(0)] = OTHER;
KINDS[".".charCodeAt(0)] = DOT;
const SLASH = 0x2f;
const JOINTS = /[-+@~]+/;
const MIN_RUN = 4;
const MAX_RUN = 300;

/** Receives an identifier; `isWhole` is false for one found inside another identifier. */
type IdentifierListener = (identifier: string, isWhole: boolean) => void;

/**
 * Reports the identifiers of a text: paths, symbols, long numbers, hashes. With `isWide`, also the names a search would
 * find inside them: the ends of paths and the pieces of dotted names.
 */
export function scanIdentifiers(text: string, isWide: boolean, tell: IdentifierListener): void {
  let from = 0;
  let hasSign = false;
  let before = 0;
  let twoBefore = 0;
  // Read once: texts have many representations, and the length of a text is looked up in the one at hand.
  const { length } = text;
  for (let at = 0; at <= length; at++) {
    const code = at < length ? text.charCodeAt(at) : 128;
    const kind = code < 128 ? (KINDS[code] as number) : 0;
    if (kind === 0) {
      if (hasSign && at - from >= MIN_RUN && at - from <= MAX_RUN)
        scanRun(text.slice(from, at), isWide, tell);
      from = at + 1;
      hasSign = false;
      before = 0;
    } else if (
      kind === TELLING ||
      (kind === UPPER && before === LOWER) ||
      (before === DOT && isWordKind(twoBefore) && isWordKind(kind))
    )
      hasSign = true;
    twoBefore = before;
    before = kind;
  }
}

function isWordKind(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === TELLING;
}

/** Only called for runs that may contain a name; most runs are natural language and are skipped. */
function scanRun(run: string, isWide: boolean, tell: IdentifierListener): void {
  const name = trimRun(run);
  if (name.includes("/")) scanPath(name, isWide, tell);
  else if (!JOINTS.test(name)) scanDottedName(name, true, isWide, tell);
  else for (const piece of name.split(JOINTS)) scanDottedName(piece, true, isWide, tell);
}

/** True for characters that no name begins or ends with; few runs begin or end with one. */
const isEdge = (code: number) =>
  code < 128 && (KINDS[code] === DOT || KINDS[code] === OTHER || code === SLASH);

function trimRun(run: string): string {
  const start = isEdge(run.charCodeAt(0)) ? run.replace(/^(?:\.\/|[.+\-@~])+/, "") : run;
  return isEdge(start.charCodeAt(start.length - 1)) ? start.replace(/[.+\-/@~]+$/, "") : start;
}

function scanPath(path: string, isWide: boolean, tell: IdentifierListener): void {
  if (path.length < 5 || !/[A-Za-z]{2}/.test(path)) return;
  tell(path, true);
  if (!isWide) return;
  const pieces = path.includes("//") ? path.split("/").filter(Boolean) : path.split("/");
  for (let from = 1; from < pieces.length - 1; from++) tell(pieces.slice(from).join("/"), false);
  for (const piece of pieces) scanDottedName(piece, false, true, tell);
}

function scanDottedName(piece: string, isWhole: boolean, isWide: boolean, tell: IdentifierListener): void {
  // Names have at least this length.
  if (piece.length < MIN_RUN) return;
  const name = piece.startsWith(".") || piece.endsWith(".") ? piece.replace(/^\.+|\.+$/g, "") : piece;
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

/**
 * True for a number of at least four digits, a hash, or a word with a feature that is typical of names in code and rare
 * in natural language: an underscore, a digit, camel case, an inner dot. A single pass over the characters.
 */
function isName(word: string): boolean {
  let digits = 0;
  let letters = 0;
  let hexLetters = 0;
  let isShaped = false;
  let before = 0;
  let twoBefore = 0;
  const { length } = word;
  for (let at = 0; at < length; at++) {
    const code = word.charCodeAt(at);
    const kind = code < 128 ? (KINDS[code] as number) : 0;
    if (code >= 0x30 && code <= 0x39) digits++;
    else if (kind === LOWER || kind === UPPER) letters++;
    if (code >= 0x61 && code <= 0x66) hexLetters++;
    const isTelling = kind === TELLING && code !== SLASH;
    const isHump = kind === UPPER && before === LOWER;
    if (isTelling || isHump || (before === DOT && isWordKind(twoBefore) && isWordKind(kind))) isShaped = true;
    twoBefore = before;
    before = code === SLASH ? OTHER : kind;
  }
  if (digits === length) return digits >= 4;
  if (length >= 5 && letters > 0 && isShaped) return true;
  const isHex = digits + hexLetters === length && digits > 0 && hexLetters > 0;
  return isHex && length >= 7 && length <= 64;
}
