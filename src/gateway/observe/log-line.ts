import { BoundedMap } from "../../base/bounded-map.ts";
import { redactSecrets } from "../../model/secrets/redact-secrets.ts";

/** The log level: each level includes the ones before it. */
export type LogLevel = "silent" | "error" | "info" | "debug";

/** Names of fields, in the order in which they are written. */
const FIELDS = {
  who: ["request", "principal", "client", "session", "thread", "kind"],
  where: ["api", "model", "upstream", "method", "path", "ending"],
  figures: [
    "status",
    "ms",
    "overheadMs",
    "firstByteMs",
    "bytesIn",
    "bytesOut",
    "tokensBefore",
    "tokensAfter",
    "inputTokens",
    "outputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "spentDollars",
    "savedDollars",
    "uneditedDollars",
    "extraWriteDollars",
    "healed",
    "recalls",
    "unindexed",
    "redacted",
    "count",
  ],
  flags: ["isStreamed", "isEdited", "isDryRun", "isForwardedFirst", "isSentTwice"],
  words: ["key", "error", "message", "content"],
} as const;

type Name<Group extends keyof typeof FIELDS> = (typeof FIELDS)[Group][number];

/** Fields of an event. Other fields are never written; `content` only if enabled. */
export type LogFields = { readonly [Text in Name<"who" | "where" | "words">]?: string | undefined } & {
  readonly [Figure in Name<"figures">]?: number | undefined;
} & { readonly [Flag in Name<"flags">]?: boolean | undefined } & {
  /** A line for people, which replaces the fields on a terminal and is not written elsewhere. */
  readonly summary?: string | (() => string) | undefined;
};

/** One event with its time and level. */
interface LogLine {
  readonly time: Date;
  readonly level: Exclude<LogLevel, "silent">;
  readonly event: string;
  readonly fields: LogFields;
}

type Field = Exclude<keyof LogFields, "summary">;
type FieldEntry = readonly [Field, string | number | boolean];

const ORDER: readonly Field[] = Object.values(FIELDS).flat();
const MAX_CHARACTERS = 300;
const MAX_CONTENT_CHARACTERS = 16_384;

const JSON_KEYS = ORDER.map((name) => [name, `,${JSON.stringify(name)}:`] as const);

/** One line of JSON. Secrets found in fields are removed; long fields are cut. */
export function formatJsonLine({ time, level, event, fields }: LogLine): string {
  let line = `{"time":"${time.toISOString()}","level":"${level}","event":${JSON.stringify(event)}`;
  for (const [name, key] of JSON_KEYS) {
    const value = fields[name];
    if (typeof value === "number") {
      if (Number.isFinite(value)) line += key + roundNumber(value);
    } else if (typeof value === "string") line += key + getQuoted(name, value);
    else if (typeof value === "boolean") line += key + value;
  }
  return `${line}}`;
}

/** One line for a terminal. Text from clients cannot move the cursor or change colors. */
export function formatPrettyLine({ time, level, event, fields }: LogLine): string {
  const summary = typeof fields.summary === "function" ? fields.summary() : fields.summary;
  if (summary !== undefined) {
    const mark = level === "error" ? "error " : "";
    return `${formatClock(time)} ${mark}${clean("message", summary).replace(UNSAFE, "?")}`;
  }
  const at = time.toISOString().slice(11, 23);
  const pairs = listEntries(fields).map(([name, value]) => `${name}=${formatPretty(value)}`);
  return [at, level.padEnd(5), event, ...pairs].join(" ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The local time of day. */
function formatClock(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

function listEntries(fields: LogFields): readonly FieldEntry[] {
  return ORDER.flatMap((name): readonly FieldEntry[] => {
    const value = fields[name];
    if (typeof value === "number") return Number.isFinite(value) ? [[name, roundNumber(value)]] : [];
    if (typeof value === "string") return [[name, name === "request" ? value : clean(name, value)]];
    return typeof value === "boolean" ? [[name, value]] : [];
  });
}

/** Larger numbers have no digits to round, and would overflow. */
const MAX_ROUNDED = 1e15;

function roundNumber(value: number): number {
  if (Number.isInteger(value) || Math.abs(value) >= MAX_ROUNDED) return value;
  return Math.round(value * 1e6) / 1e6;
}

/** Cache of clean texts as JSON: the same names recur with every request of a conversation. */
const MAX_CACHED = 1_000;
const QUOTED = new BoundedMap<string, string>({ max: MAX_CACHED });
const MAX_CACHED_CHARACTERS = 200;

function getQuoted(name: Field, value: string): string {
  // The gateway's own id, which is different each time.
  if (name === "request") return JSON.stringify(value);
  if (value.length > MAX_CACHED_CHARACTERS) return JSON.stringify(clean(name, value));
  const known = QUOTED.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(clean(name, value));
  QUOTED.set(value, text);
  return text;
}

function clean(name: Field, value: string): string {
  const most = name === "content" ? MAX_CONTENT_CHARACTERS : MAX_CHARACTERS;
  // Secrets are removed before the text is cut, because half a secret would not be recognized.
  const { text } = redactSecrets(value.slice(0, 4 * most));
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text.toWellFormed();
}

function formatPretty(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const isPlain = /^[\w./:@…-]+$/.test(value);
  // JSON does not escape control characters beyond ASCII and marks of writing direction.
  return isPlain
    ? value
    : JSON.stringify(value).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, "?");
}
