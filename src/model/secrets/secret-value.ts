import { REDACTION_MARK } from "./found-secret.ts";

/** Names with a secret-like word that denote something else: an identifier, a location, a lifetime. */
const OTHER_NAMES =
  /(?<=names?|[_-]ids?|Ids?|url|uri|path|file|dir|types?|host|length|limits?|counts?|ttl|expiry|expires|expiration|expiresat|arn|header|prefix|suffix|version|field|label|placeholder|pattern|regex|policy|hash|sha256|digest|fingerprint|budget|usage|size|index|[_-]env|hint|error|message|cost|price|details|required|enabled|status|algorithm|storage|provider|scopes?|tokens|secrets|keys|passwords|credentials)$/iy;
const OTHER_BEGINNINGS =
  /^(?:(?:max|min|num|total|input|output|prompt|completion|cached?|reasoning|next|prev|page|pagination|continuation|cancel|cancellation|sync|start|end|stop|eos|bos|pad|unk|special|delta|sub)[_-]?(?:page[_-]?)?tokens?|public|keyboard)/i;
/** A value of only these characters is not a template, except "xxxx", and is code only if it begins with a code word. */
const PLAIN = /^[\w+/=-]*$/;
/** Placeholders to fill in, and marks of removed text. */
const TEMPLATE = /\*\*\*|\.\.\.|…|•|<|>|\$\{|\$\(|\{\{|%\(|%s|\{[a-z_]*\}|xxxx/i;
/** Words of placeholder values; a long random value may contain one by chance, or because a manual shows it. */
const SHOWN_ONLY = /your|example|placeholder|change[_-]?me|dummy|redacted|insert|replace|todo|undefined/i;
const LONG = 32;
const SEEN = new Uint8Array(128);
const CODE_WORD =
  /^(?:process|os|env|self|this|config|settings|options|props|args|ctx|req|secrets?|import|new|await|null|none|true|false|string|str|bytes|any)\b/i;
/** Calls, references, templates and other code. */
const CODE_SIGN = /[(){}[\]$|*&!?`]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|=>|::|->/;
const LOCATION = /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*:\/\/|@)/;

/** An assignment in a text. */
interface Assignment {
  /** The complete name as written. */
  readonly name: string;
  readonly value: string;
  readonly isQuoted: boolean;
}

/** Decides whether the value of a secret-like name is a secret rather than a placeholder, type, path or code. */
export function isSecretValue({ name, value, isQuoted }: Assignment): boolean {
  // Cheap checks first: texts may contain very many assignments.
  if (value.length < 6 || value.startsWith(REDACTION_MARK)) return false;
  const isEnvironment = /^[A-Z][A-Z0-9_]+$/.test(name);
  const isPassword = /pass|pwd/i.test(name);
  if (!isPassword && (value.length < (isEnvironment ? 12 : 16) || !isRandomLooking(value))) return false;
  if (isPassword && !(isEnvironment ? isNoNumber(value) : isChosenLooking(value))) return false;
  if (isOtherName(name)) return false;
  const isPlain = PLAIN.test(value);
  if (isPlain ? /xxxx/i.test(value) || LOCATION.test(value) : isTemplate(value)) return false;
  if (SHOWN_ONLY.test(value) && !(value.length >= LONG && isRandomLooking(value))) return false;
  if (!isPlain && /\s/.test(value) && !(isEnvironment && isPassword && isQuoted && /^\S/.test(value)))
    return false;
  if (!CODE_WORD.test(value) && (isPlain || !CODE_SIGN.test(value))) return true;
  return isPassword && isChosenLooking(value) && (isQuoted || isTypedLooking(value));
}

function isOtherName(name: string): boolean {
  // The sticky pattern looks behind from the end of the name.
  OTHER_NAMES.lastIndex = name.length;
  return OTHER_NAMES.test(name) || OTHER_BEGINNINGS.test(name);
}

function isTemplate(value: string): boolean {
  return value.includes(REDACTION_MARK) || TEMPLATE.test(value) || LOCATION.test(value);
}

/** Whether a value looks like a typed password and not like code: letters, digits, no calls, references, operators. */
function isTypedLooking(value: string): boolean {
  const isCode =
    /^[^A-Za-z0-9]|\w\(|[{}[\]|`]|\$[A-Za-z_{(]|&&|=>|::|->|[=!]=|\?\.|^[A-Za-z_]\w*(?:[!?]?\.[A-Za-z_]\w*)+[!?]*$/.test(
      value,
    );
  return !isCode && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Whether a value looks like a chosen password: letters and other characters. */
function isChosenLooking(value: string): boolean {
  return /[A-Za-z]/.test(value) && /[^A-Za-z_\s.:,'"-]/.test(value);
}

/** Whether a value looks random: a mix of letters and digits unlike natural language or code. */
export function isRandomLooking(value: string): boolean {
  let figures = 0;
  let capitals = 0;
  let small = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) figures++;
    else if (code >= 0x41 && code <= 0x5a) capitals++;
    else if (code >= 0x61 && code <= 0x7a) small++;
  }
  if (figures < (value.length >= LONG ? 1 : 2) || capitals + small === 0) return false;
  return (figures + capitals) / value.length >= 0.15 && hasDistinct(value, Math.min(10, value.length / 2));
}

/** Whether a value has at least `least` distinct characters. */
function hasDistinct(value: string, least: number): boolean {
  SEEN.fill(0);
  let count = 0;
  for (let at = 0; at < value.length && count < least; at++) {
    const code = value.charCodeAt(at);
    if (code >= 128) return new Set(value).size >= least;
    if (SEEN[code] === 0) count++;
    SEEN[code] = 1;
  }
  return count >= least;
}

function isNoNumber(value: string): boolean {
  return !/^[\d.,_-]*$/.test(value) && !/^(.)\1*$/.test(value);
}
