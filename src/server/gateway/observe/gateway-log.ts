import { BoundedMap } from "../../../model/base/caches.ts";
import { clipEnd } from "../../../model/base/clip-end.ts";
import { redactSecrets } from "../../../model/secrets/redact-secrets.ts";
import { formatTokens } from "../../../model/usage.ts";
import type { ReloadResult } from "../config/watch-config.ts";

/** Logs events as lines, without content of conversations. */
export interface GatewayLog {
  error(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
}

/** The destination of lines: standard error, or any stream. */
interface LogStream {
  write(text: string): unknown;
  /** Characters waiting to be written. */
  readonly writableLength?: number;
}

export interface GatewayLogOptions {
  /** Called for each event, so that reloading the configuration takes effect. */
  readonly level: () => LogLevel;
  /** True if `content` is logged; false by default. */
  readonly content?: () => boolean;
  /** JSON by default; "pretty" is for terminals. */
  readonly form?: "json" | "pretty";
  readonly stream?: LogStream;
  readonly now?: () => Date;
}

const RANK: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, debug: 3 };
const MAX_WAITING = 1024 * 1024;

/** A log on a stream. While more than 1 MiB waits to be written, lines are dropped and counted. */
export function createGatewayLog(options: GatewayLogOptions): GatewayLog {
  const { level, content = () => false, form = "json", stream = process.stderr, now } = options;
  const lineOf = form === "json" ? formatJsonLine : formatPrettyLine;
  let leftOut = 0;
  const write = (rank: "error" | "info" | "debug", event: string, fields: LogFields = {}) => {
    if (RANK[rank] > RANK[level()]) return;
    if ((stream.writableLength ?? 0) > MAX_WAITING) {
      leftOut++;
      return;
    }
    const time = now?.() ?? new Date();
    if (leftOut > 0) {
      stream.write(
        `${lineOf({ time, level: "error", event: "log.left-out", fields: { count: leftOut } })}\n`,
      );
      leftOut = 0;
    }
    const shown = fields.content === undefined || content() ? fields : { ...fields, content: undefined };
    stream.write(`${lineOf({ time, level: rank, event, fields: shown })}\n`);
  };
  return {
    error: write.bind(undefined, "error"),
    info: write.bind(undefined, "info"),
    debug: write.bind(undefined, "debug"),
  };
}

/** The log level: each level includes the ones before it. */
export type LogLevel = "silent" | "error" | "info" | "debug";

/** Names of fields, in the order in which they are written. */
const FIELDS = {
  who: ["request", "principal", "client", "session", "thread", "kind"],
  where: ["api", "model", "upstream", "method", "path", "ending", "cache"],
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
    "missedTokens",
    "missDollars",
    "healed",
    "recalls",
    "unindexed",
    "redacted",
    "count",
  ],
  flags: ["isStreamed", "isEdited", "isDryRun"],
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
function formatJsonLine({ time, level, event, fields }: LogLine): string {
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
  return clipEnd(text, most).toWellFormed();
}

function formatPretty(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const isPlain = /^[\w./:@…-]+$/.test(value);
  // JSON does not escape control characters beyond ASCII and marks of writing direction.
  return isPlain
    ? value
    : JSON.stringify(value).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, "?");
}

/** Logs the result of a reload: one line for each invalid setting, or one for each message. */
export function logReload(log: GatewayLog, { outcome, messages, problems }: ReloadResult): void {
  if (problems) {
    for (const { key, message } of problems)
      log.error("config.refused", { key, message: `The configuration is unchanged: ${message}` });
    return;
  }
  for (const message of messages)
    if (outcome === "refused") log.error("config.refused", { message });
    else log.info("config.changed", { message });
}

/** An edit of a window, as reported to people. */
interface AnnouncedEdit {
  readonly session: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Further calls until the edit has paid for itself; null if it never does. */
  readonly breakEvenCalls: number | null;
  readonly isForced: boolean;
  /** Number of replies whose thinking the model loses. */
  readonly thoughts: number;
  /** Undefined if nothing was changed. */
  readonly overlay?: number | undefined;
}

/** One sentence about an edit, with its price and the way back. */
export function formatAnnouncement(edit: AnnouncedEdit): string {
  const { session, tokensBefore, tokensAfter, breakEvenCalls, isForced, thoughts, overlay } = edit;
  const sizes = `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
  const why = isForced ? "the window was full" : describeGain(breakEvenCalls);
  const gain = thoughts > 0 ? `${why}, ${thoughts} thinking block${thoughts === 1 ? "" : "s"} left` : why;
  return overlay === undefined
    ? `would have edited the window here: ${sizes}, ${gain}`
    : `window edited: ${sizes}, ${gain}, undo: longhaul revert ${session} ${overlay}`;
}

function describeGain(calls: number | null): string {
  if (calls === null) return "estimated not to pay for itself";
  return calls === 0
    ? "estimated to pay at once"
    : `estimated to pay after ${calls} call${calls === 1 ? "" : "s"}`;
}

/** One sentence of advice, with the way to the text that would be carried over. */
export function formatAdvice(session: string, share: number): string {
  const percent = Math.round(share * 100);
  return `${percent} % of the window can never leave it: begin a new conversation, carried over: longhaul context ${session} --full`;
}
