import type {
  BlobPart,
  Blobs,
  Entry,
  Message,
  Part,
  RawPart,
  ReasoningPart,
  Role,
  ToolResultPart,
} from "../../index.ts";
import { formatTime } from "../ago.ts";
import { formatBytes } from "../bytes.ts";
import { escapeLine, escapeText, safeJson } from "../escape.ts";
import type { Look, Paint } from "../paint.ts";
import { fitTo } from "../width.ts";
import { asideLine } from "./asides.ts";
import { CallNames } from "./call-names.ts";
import { excerptLines } from "./excerpt.ts";
import { callLine } from "./tool-call.ts";

/** Options for printing a transcript. */
export interface TranscriptOptions {
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
const MOST_RAW = 200;

/** Formats entries one after another as text that is safe to print. */
export class Transcript {
  readonly #options: TranscriptOptions;
  /** Tool names by call id; results often do not repeat them. */
  readonly #calls = new CallNames();

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Formats an entry, with a line break at its end. */
  async text(entry: Entry): Promise<string> {
    const { paint, columns } = this.#options;
    if (entry.kind === "message") return this.#message(entry, entry.message);
    if (entry.kind === "raw") return this.#raw(entry);
    return `${paint("dim", fitTo(`· #${entry.seq} ${asideLine(entry)}`, columns))}\n`;
  }

  async #message(entry: Entry, message: Message): Promise<string> {
    const { paint } = this.#options;
    const facts = [formatTime(entry.at), `#${entry.seq}`];
    if (message.model !== undefined) facts.unshift(escapeLine(message.model));
    if (message.interrupted) facts.push("interrupted");
    const head = `${paint(LOOKS[message.role], paint("bold", message.role))}  ${paint("dim", facts.join("  "))}`;
    const lines: string[] = [];
    for (const part of message.parts) for (const one of await this.#part(part, message.role)) lines.push(one);
    return `\n${head}\n${lines.map((line) => `${line}\n`).join("")}`;
  }

  async #part(given: Part, role: Role): Promise<readonly string[]> {
    const part = given.type === "blob" ? await this.#restored(given) : given;
    const { paint, columns } = this.#options;
    switch (part.type) {
      case "text":
        return role === "system" || role === "tool" ? this.#short(part.text, RESULT_LINES) : lines(part.text);
      case "reasoning":
        return this.#reasoning(part);
      case "tool-call":
        this.#calls.set(part.callId, part.name);
        return [paint("blue", `→ ${callLine(part.name, part.input, columns - 2)}`)];
      case "tool-result":
        return this.#result(part);
      case "raw":
        return this.#foreign(part);
      case "blob":
        return this.#blob(part);
    }
  }

  #reasoning({ text }: ReasoningPart): readonly string[] {
    const { paint } = this.#options;
    if (text.trim() === "") return [paint("dim", "  (reasoning hidden by its provider)")];
    return this.#short(text, REASONING_LINES, "  ").map((line) => paint("dim", line));
  }

  async #result({ name, callId, isError, output }: ToolResultPart): Promise<readonly string[]> {
    const { paint } = this.#options;
    const title = `← ${escapeLine(name ?? this.#calls.get(callId) ?? callId)}${isError ? " failed" : ""}`;
    const shown = [isError ? paint("red", title) : paint("blue", title)];
    for (const given of output) {
      const part = given.type === "blob" ? await this.#restored(given) : given;
      const own =
        part.type === "text" ? this.#short(part.text, RESULT_LINES) : await this.#part(part, "tool");
      for (const one of own.map((line) => `  ${line}`)) shown.push(one);
    }
    return shown;
  }

  #blob(part: BlobPart): readonly string[] {
    const { paint } = this.#options;
    const size = formatBytes(part.sizeBytes);
    if (part.of === undefined) {
      const name = part.name === undefined ? "" : ` ${part.name}`;
      return [paint("dim", escapeLine(`[${part.mime} ${size} ${part.digest.slice(0, 12)}${name}]`))];
    }
    const note = paint("dim", `[${size} in total; --full shows it]`);
    if (part.of === "tool-call")
      return [paint("blue", `→ ${escapeLine(part.toolName ?? part.callId ?? "")}`), note];
    const preview = this.#short(part.preview ?? "", RESULT_LINES);
    return [...(part.of === "text" ? preview : preview.map((line) => paint("dim", line))), note];
  }

  #foreign({ format, value }: RawPart): readonly string[] {
    const { paint, columns, isRaw } = this.#options;
    if (isRaw) return [paint("dim", `[${escapeLine(format)}]`), ...safeJson(value, 2).split("\n")];
    return [paint("dim", fitTo(`[${escapeLine(format)} ${safeJson(value).slice(0, MOST_RAW)}]`, columns))];
  }

  /** Restores a part from its blob if content is shown in full. */
  async #restored(part: BlobPart): Promise<Part> {
    if (!this.#options.isFull || part.of === undefined) return part;
    try {
      return await this.#options.blobs.restore(part);
    } catch (error) {
      this.#options.onDamage((error as Error).message);
      return part;
    }
  }

  async #raw(entry: Entry & { readonly kind: "raw" }): Promise<string> {
    const { paint, blobs, onDamage } = this.#options;
    const head = paint("dim", `· #${entry.seq} record of ${escapeLine(entry.format)}`);
    try {
      const value = entry.blob ? JSON.parse(await blobs.text(entry.blob.digest)) : entry.value;
      return `${head}\n${safeJson(value, 2)}\n`;
    } catch (error) {
      onDamage((error as Error).message);
      return `${head}\n`;
    }
  }

  #short(text: string, most: number, indent = ""): readonly string[] {
    const { isFull, columns } = this.#options;
    const room = { columns: columns - 2 - indent.length, ...(!isFull && { lines: most }) };
    return excerptLines(text, room).map((line) => indent + line);
  }
}

function lines(text: string): readonly string[] {
  return escapeText(text.replace(/\n+$/, "")).split("\n");
}
