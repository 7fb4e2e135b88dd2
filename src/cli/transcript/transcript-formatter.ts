import type { Blobs } from "../../kernel/faces/log.ts";
import { type EditReason, readRetries } from "../../kernel/faces/window.ts";
import type {
  BlobPart,
  Entry,
  EntryBody,
  Json,
  Message,
  Part,
  RawPart,
  ReasoningPart,
  Role,
  ToolResultPart,
  Usage,
} from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { escapeLine, escapeText, toSafeJson } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatTime } from "../terminal/format-time.ts";
import type { Look, Paint } from "../terminal/paint.ts";
import { fitText } from "../terminal/width.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { describeEdit, explainEdit } from "./describe-edit.ts";

/** Options for printing a transcript. */
interface TranscriptPrintOptions {
  readonly paint: Paint;
  readonly columns: number;
  /** Show tool results, system messages and content in blobs in full. */
  readonly isFull: boolean;
  /** Show unknown foreign content as JSON. */
  readonly isRaw: boolean;
  readonly blobs: Pick<Blobs, "restore" | "text">;
  /** Called when a part in a blob cannot be read. */
  readonly onDamage: (message: string) => void;
}

const LOOKS: Readonly<Record<Role, Look>> = {
  system: "magenta",
  user: "green",
  assistant: "cyan",
  tool: "yellow",
};
const RESULT_LINES = 8;
const REASONING_LINES = 12;
/** Maximum characters of a foreign part without `isRaw`. */
const MAX_RAW_CHARACTERS = 200;
/** Maximum calls to remember; results follow their calls closely. */
const MAX_CALLS = 1_000;

/** Formats entries one after another as text that is safe to print. */
export class TranscriptFormatter {
  readonly #options: TranscriptPrintOptions;
  /** Tool names by call id; results often do not repeat them. */
  readonly #callNames = new BoundedMap<string, string>({ max: MAX_CALLS });

  constructor(options: TranscriptPrintOptions) {
    this.#options = options;
  }

  /** Formats an entry, with a line break at its end. */
  async formatEntry(entry: Entry): Promise<string> {
    const { paint, columns } = this.#options;
    if (entry.kind === "message") return this.#formatMessage(entry, entry.message);
    if (entry.kind === "raw") return this.#formatRaw(entry);
    return `${paint("dim", fitText(`· #${entry.seq} ${formatAside(entry)}`, columns))}\n`;
  }

  async #formatMessage(entry: Entry, message: Message): Promise<string> {
    const { paint } = this.#options;
    const facts = [formatTime(entry.at), `#${entry.seq}`];
    if (message.model !== undefined) facts.unshift(escapeLine(message.model));
    if (message.interrupted) facts.push("interrupted");
    const head = `${paint(LOOKS[message.role], paint("bold", message.role))}  ${paint("dim", facts.join("  "))}`;
    const lines: string[] = [];
    for (const part of message.parts)
      for (const one of await this.#formatPart(part, message.role)) lines.push(one);
    return `\n${head}\n${lines.map((line) => `${line}\n`).join("")}`;
  }

  async #formatPart(given: Part, role: Role): Promise<readonly string[]> {
    const part = given.type === "blob" ? await this.#restore(given) : given;
    const { paint, columns } = this.#options;
    switch (part.type) {
      case "text":
        return role === "system" || role === "tool"
          ? this.#formatExcerpt(part.text, RESULT_LINES)
          : toLines(part.text, columns);
      case "reasoning":
        return this.#formatReasoning(part);
      case "tool-call":
        this.#callNames.set(part.callId, part.name);
        return [paint("blue", `→ ${formatCall(part.name, part.input, columns - 2)}`)];
      case "tool-result":
        return this.#formatResult(part);
      case "raw":
        return this.#formatForeign(part);
      case "blob":
        return this.#formatBlob(part);
    }
  }

  #formatReasoning({ text }: ReasoningPart): readonly string[] {
    const { paint } = this.#options;
    if (text.trim() === "") return [paint("dim", "  (reasoning hidden by its provider)")];
    return this.#formatExcerpt(text, REASONING_LINES, "  ").map((line) => paint("dim", line));
  }

  async #formatResult({ name, callId, isError, output }: ToolResultPart): Promise<readonly string[]> {
    const { paint } = this.#options;
    const title = `← ${escapeLine(name ?? this.#callNames.get(callId) ?? callId)}${isError ? " failed" : ""}`;
    const shown = [isError ? paint("red", title) : paint("blue", title)];
    for (const given of output) {
      const part = given.type === "blob" ? await this.#restore(given) : given;
      const own =
        part.type === "text"
          ? this.#formatExcerpt(part.text, RESULT_LINES)
          : await this.#formatPart(part, "tool");
      for (const one of own.map((line) => `  ${line}`)) shown.push(one);
    }
    return shown;
  }

  #formatBlob(part: BlobPart): readonly string[] {
    const { paint } = this.#options;
    const size = formatBytes(part.sizeBytes);
    if (part.of === undefined) {
      const name = part.name === undefined ? "" : ` ${part.name}`;
      return [paint("dim", escapeLine(`[${part.mime} ${size} ${part.digest.slice(0, 12)}${name}]`))];
    }
    const note = paint("dim", `[${size} in total; --full shows it]`);
    if (part.of === "tool-call")
      return [paint("blue", `→ ${escapeLine(part.toolName ?? part.callId ?? "")}`), note];
    const preview = this.#formatExcerpt(part.preview ?? "", RESULT_LINES);
    return [...(part.of === "text" ? preview : preview.map((line) => paint("dim", line))), note];
  }

  #formatForeign({ format, value }: RawPart): readonly string[] {
    const { paint, columns, isRaw } = this.#options;
    if (isRaw) return [paint("dim", `[${escapeLine(format)}]`), ...toSafeJson(value, 2).split("\n")];
    return [
      paint(
        "dim",
        fitText(`[${escapeLine(format)} ${toSafeJson(value).slice(0, MAX_RAW_CHARACTERS)}]`, columns),
      ),
    ];
  }

  /** Restores a part from its blob if content is shown in full. */
  async #restore(part: BlobPart): Promise<Part> {
    if (!this.#options.isFull || part.of === undefined) return part;
    try {
      return await this.#options.blobs.restore(part);
    } catch (error) {
      this.#options.onDamage((error as Error).message);
      return part;
    }
  }

  async #formatRaw(entry: Entry & { readonly kind: "raw" }): Promise<string> {
    const { paint, blobs, onDamage } = this.#options;
    const head = paint("dim", `· #${entry.seq} record of ${escapeLine(entry.format)}`);
    try {
      const value = entry.blob ? JSON.parse(await blobs.text(entry.blob.digest)) : entry.value;
      return `${head}\n${toSafeJson(value, 2)}\n`;
    } catch (error) {
      onDamage((error as Error).message);
      return `${head}\n`;
    }
  }

  #formatExcerpt(text: string, most: number, indent = ""): readonly string[] {
    const { isFull, columns } = this.#options;
    const room = { columns: columns - 2 - indent.length, ...(!isFull && { lines: most }) };
    return renderExcerpt(text, room).map((line) => indent + line);
  }
}

/** Splits a text into lines, wrapped between words. */
function toLines(text: string, columns: number): readonly string[] {
  return escapeText(text.replace(/\n+$/, ""))
    .split("\n")
    .flatMap((line) => wrapText(line, columns));
}

/** Arguments that describe a call best, shown first. */
const DESCRIPTIVE_ARGUMENTS = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "path",
  "pattern",
  "query",
  "url",
  "description",
];
const MAX_VALUE_COLUMNS = 60;

/** Formats a call on one line: its name and shortened arguments, the most descriptive first. */
function formatCall(name: string, input: Json, columns: number): string {
  const words = isObject(input) ? formatArguments(input) : [formatShortValue(input)];
  return fitText([escapeLine(name), ...words].join(" "), columns);
}

function formatArguments(input: { readonly [key: string]: Json }): readonly string[] {
  const rank = (key: string) =>
    DESCRIPTIVE_ARGUMENTS.includes(key) ? DESCRIPTIVE_ARGUMENTS.indexOf(key) : DESCRIPTIVE_ARGUMENTS.length;
  return Object.entries(input)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([key, value]) => `${escapeLine(key)}=${formatShortValue(value)}`);
}

function formatShortValue(value: Json): string {
  const text = typeof value === "string" && /^[\w./@:~-]+$/.test(value) ? value : JSON.stringify(value);
  return fitText(escapeLine(text), MAX_VALUE_COLUMNS);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

type Aside = Exclude<EntryBody, { readonly kind: "message" | "raw" }>;

/** Formats an entry that is not a message on one line. */
function formatAside(entry: Entry & Aside): string {
  return escapeLine(describeAside(entry));
}

function describeAside(entry: Aside): string {
  switch (entry.kind) {
    case "notice":
      return `note: ${entry.text}`;
    case "redacted":
      return `redacted ${entry.was}${entry.reason === undefined ? "" : `: ${entry.reason}`}`;
    case "damaged":
      return `damaged ${entry.was ?? "entry"}: ${entry.problem}`;
    case "line":
      return `line: ${entry.reason}; ${formatQuantity((entry.removed ?? entry.ranges).length, "range")}${entry.removed ? " left" : ""}`;
    case "usage":
      return `usage${entry.model === undefined ? "" : ` of ${entry.model}`}: ${formatUsage(entry.usage, readRetries(entry))}`;
    case "pin":
      return `${entry.isErased ? "erased" : entry.isPinned ? "pinned" : "unpinned"} ${entry.target.session}#${entry.target.seq}`;
    case "task":
      return `task ${entry.task}: ${entry.note.type === "moved" ? entry.note.to : entry.note.type}`;
    case "overlay":
      return describeOverlay(entry);
  }
}

function formatUsage(usage: Usage, retries: number): string {
  const counts: readonly (readonly [number | undefined, string])[] = [
    [usage.inputTokens, "in"],
    [usage.outputTokens, "out"],
    [usage.cacheReadTokens, "read from cache"],
    [usage.cacheWriteTokens, "written to cache"],
    [usage.reasoningTokens, "for reasoning"],
  ];
  const tokens = counts.flatMap(([count, word]) => (count ? [`${formatCount(count)} ${word}`] : []));
  const cost = usage.cost === undefined ? [] : [`$${usage.cost.toFixed(4)}`];
  const again = retries === 0 ? [] : [`after ${formatCount(retries)} ${retries === 1 ? "retry" : "retries"}`];
  return [...tokens, ...cost, ...again].join(", ");
}

/** Describes an overlay. Figures come first, because the line may be cut at its end; author and reason follow. */
function describeOverlay(entry: Extract<Aside, { kind: "overlay" }>): string {
  const { author, edit, receipt } = entry;
  const left = receipt ? [`${formatQuantity(receipt.left.entries, "message")} removed`] : [];
  const figures = [...formatTokens(entry), ...left].map((figure) => `${figure}, `).join("");
  return `window: ${figures}${author} ${describeEdit(edit)} (${explainEdit(entry)})`;
}

function formatTokens({ tokensBefore, tokensAfter }: EditReason): readonly string[] {
  if (tokensBefore === undefined) return [];
  const after = tokensAfter === undefined ? "?" : formatCount(tokensAfter);
  return [`${formatCount(tokensBefore)} → ${after} tokens`];
}

/** Size limits of an excerpt. */
interface ExcerptLimits {
  /** Maximum lines; all if absent. */
  readonly lines?: number;
  /** Maximum columns of a line. */
  readonly columns: number;
}

/** Maximum line length of an excerpt if the terminal sets no limit. */
const MAX_COLUMNS = 400;

/** Returns the first lines of a text, escaped, with a count of the omitted lines. */
export function renderExcerpt(text: string, { lines: most, columns }: ExcerptLimits): readonly string[] {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  const lines = escapeText(text.slice(0, end)).split("\n");
  if (most === undefined) return lines;
  const width = Math.min(columns, MAX_COLUMNS);
  const shown = lines.slice(0, most).map((line) => fitText(line, width));
  const missing = lines.length - most;
  return missing > 0 ? [...shown, `… ${formatQuantity(missing, "more line")}`] : shown;
}
