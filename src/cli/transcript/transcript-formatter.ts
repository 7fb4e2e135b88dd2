import { BoundedMap } from "../../base/bounded-map.ts";
import type {
  BlobPart,
  Entry,
  Message,
  Part,
  RawPart,
  ReasoningPart,
  Role,
  ToolResultPart,
} from "../../index.ts";
import type { Blobs } from "../../log-entry.ts";
import { escapeLine, escapeText, toSafeJson } from "../escape.ts";
import { formatBytes } from "../format-bytes.ts";
import { formatTime } from "../format-time.ts";
import type { Look, Paint } from "../paint.ts";
import { fitText } from "../width.ts";
import { wrapText } from "../wrap-text.ts";
import { formatAside } from "./format-aside.ts";
import { formatCall } from "./format-call.ts";
import { renderExcerpt } from "./render-excerpt.ts";

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
