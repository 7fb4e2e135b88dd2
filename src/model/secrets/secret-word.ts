import type { TextCodes } from "../text-codes.ts";
import { standsAt } from "./stands-at.ts";
import { Triples } from "./triples.ts";

/** Words in the names of secrets, and words that count only with "key" after them. */
const WHOLE = ["password", "passwd", "passphrase", "pwd", "secret", "token", "credential"];
const BEFORE_KEY =
  "api access private auth encryption signing account master service app deploy client license subscription".split(
    " ",
  );
const PASS = "pass";
const KEY = "key";
const UNDERSCORE = 0x5f;
const HYPHEN = 0x2d;

const ALL = [...WHOLE, ...BEFORE_KEY, PASS];
const GROUPS = [...Map.groupBy(ALL, (word) => word.slice(0, 3)).values()];
const BEGINNINGS = new Triples(GROUPS.map(([word = ""], index) => [word, index + 1]));
const IS_KEY: ReadonlySet<string> = new Set(BEFORE_KEY);

/** The next position from `from` on at which a secret-like word may begin; -1 if there is none. */
export function nextSecretWord(codes: TextCodes, length: number, from: number): number {
  return BEGINNINGS.next(codes, length, from);
}

/** The end of the secret-like word at a position; -1 if there is none. */
export function endOfSecretWord(codes: TextCodes, at: number): number {
  for (const word of GROUPS[BEGINNINGS.numberAt(codes, at) - 1] ?? []) {
    if (!standsAt(codes, at, word)) continue;
    const end = at + word.length;
    if (word === PASS) return isPassAt(codes, at) ? end : -1;
    if (!IS_KEY.has(word)) return end;
    const key = isJoint(codes[end] as number) ? end + 1 : end;
    if (standsAt(codes, key, KEY)) return key + KEY.length;
  }
  return -1;
}

function isJoint(code: number): boolean {
  return code === UNDERSCORE || code === HYPHEN;
}

/** "pass" counts only after an underscore and at the end of a word: DB_PASS. */
function isPassAt(codes: TextCodes, at: number): boolean {
  const after = (codes[at + PASS.length] as number) | 0x20;
  return at > 0 && (codes[at - 1] as number) === UNDERSCORE && !(after >= 0x61 && after <= 0x7a);
}
