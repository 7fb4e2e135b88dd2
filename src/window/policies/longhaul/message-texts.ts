import { clipEnd } from "../../../model/base/clip-end.ts";
import type { Json } from "../../../model/json.ts";
import { type Message, textOfMessage } from "../../../model/message.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../../model/part.ts";
import { isCall, listAnsweredCallIds, listCallIds } from "../../../model/tool-calls.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { findTouches } from "../../effects/find-touches.ts";
import { buildOutputHeading, clipInlineToolOutput, getTextBeforeTagCall } from "../../inline-tool-output.ts";
import { needsReasoning } from "../../models/thinking-rule.ts";
import type { Slot } from "../../slot.ts";
import type { ExtractLine } from "./extract-notes.ts";

/** Maximum characters of tool output kept in a user message next to the user's own text. */
const MAX_OUTPUT_CHARACTERS = 200;

/** The text of one message. */
export interface MessageText {
  /** The original message, or only its text if it also calls tools or answers calls. */
  readonly slot: Slot;
  /** True if the message is nothing but text, so that it can be shown unchanged. */
  readonly isWhole: boolean;
}

/**
 * The texts of user and assistant, in order, from which removed messages can return to a window. Bounded by tokens; the
 * oldest are dropped first, but never the very first.
 */
export class MessageTexts {
  readonly #maxTokens: number;
  readonly #tokensOf: TokenEstimator;
  #texts: MessageText[] = [];
  /** Seqs of texts that the limit has forced out of the window. */
  #forcedOut = new Set<number>();
  #tokens = 0;

  constructor(maxTokens: number, tokensOf: TokenEstimator) {
    this.#maxTokens = maxTokens;
    this.#tokensOf = tokensOf;
  }

  /** The texts that no limit has forced out. */
  get staying(): readonly MessageText[] {
    return this.#forcedOut.size === 0
      ? this.#texts
      : this.#texts.filter(({ slot }) => !this.#forcedOut.has(slot.seq));
  }

  /** Total tokens of `staying`. */
  get stayingTokens(): number {
    let tokens = this.#tokens;
    if (this.#forcedOut.size > 0)
      for (const { slot } of this.#texts) if (this.#forcedOut.has(slot.seq)) tokens -= slot.tokens;
    return tokens;
  }

  /** Records which texts the limit has left in the window; all others stay out until there is room for them again. */
  forceOutOthers(seqs: ReadonlySet<number>): void {
    this.#forcedOut = new Set(this.#texts.flatMap(({ slot }) => (seqs.has(slot.seq) ? [] : [slot.seq])));
  }

  /** Marks text that left the window before it was opened as forced out, unless one of its notes quotes it. */
  forceOutPast(past: readonly Slot[], notes: readonly Slot[]): void {
    const quotes = notes.map(({ message }) => textOfMessage(message));
    const isQuoted = (text: string) => quotes.some((quote) => quote.includes(text));
    const gone = new Set(past.flatMap(({ message, seq }) => (isQuoted(textOfMessage(message)) ? [] : [seq])));
    const staying = this.#texts.filter(({ slot, isWhole }) => !isWhole || !gone.has(slot.seq));
    this.forceOutOthers(new Set(staying.map(({ slot }) => slot.seq)));
  }

  /** Adds the text of the next message, if it has any. */
  add(slot: Slot): void {
    const words = extractText(slot, this.#tokensOf);
    if (words) this.#append(words);
  }

  /**
   * The texts in `slots` and the remembered texts that have left them; includes texts that the limit forced out only if
   * `isForced`.
   */
  listTexts(slots: readonly Slot[], outputs: ReadonlySet<number>, isForced: boolean): readonly MessageText[] {
    const here = listTextsIn(slots, outputs, this.#tokensOf);
    const seqs = new Set(slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const gone = (isForced ? this.#texts : this.staying).filter(({ slot }) => !seqs.has(slot.seq));
    return [...gone, ...here].sort((one, other) => one.slot.seq - other.slot.seq);
  }

  /** Records that the last message was a call written as a tag, so only the text before the tag counts. */
  trimLastCall(): void {
    const last = this.#texts.at(-1);
    if (!last?.isWhole || last.slot.message.role !== "assistant") return;
    const text = getTextBeforeTagCall(last.slot.message);
    if (text === undefined) return;
    this.#texts.pop();
    this.#tokens -= last.slot.tokens;
    if (text !== "") this.#append({ slot: withText(last.slot, text, this.#tokensOf), isWhole: false });
  }

  #append(words: MessageText): void {
    this.#texts.push(words);
    this.#tokens += words.slot.tokens;
    if (this.#tokens <= this.#maxTokens * 1.25) return;
    // Drops many at once, because removing them one by one would be quadratic.
    let from = 1;
    while (from < this.#texts.length - 1 && this.#tokens > this.#maxTokens)
      this.#tokens -= (this.#texts[from++] as MessageText).slot.tokens;
    for (const { slot } of this.#texts.splice(1, from - 1)) this.#forcedOut.delete(slot.seq);
  }
}

/**
 * The texts in slots. Messages that contain only tool output have none, and the message before such output ends with a
 * call.
 */
function listTextsIn(
  slots: readonly Slot[],
  outputs: ReadonlySet<number>,
  tokensOf: TokenEstimator,
): readonly MessageText[] {
  const own = slots.filter(({ isNote }) => !isNote);
  return own.flatMap((slot, index) => {
    if (outputs.has(slot.seq)) return [];
    const words = extractText(slot, tokensOf);
    const next = own[index + 1];
    if (!words?.isWhole || !next || !outputs.has(next.seq)) return words ?? [];
    const text = getTextBeforeTagCall(slot.message);
    if (text === undefined) return words;
    return text === "" ? [] : { slot: withText(slot, text, tokensOf), isWhole: false };
  });
}

function extractText(slot: Slot, tokensOf: TokenEstimator): MessageText | undefined {
  const { role, parts } = slot.message;
  if (role === "tool" || parts.length === 0) return undefined;
  const said = dropExtras(slot, tokensOf);
  const isBusy =
    listCallIds(slot.message).length > 0 ||
    listAnsweredCallIds(slot.message).length > 0 ||
    parts.some(isCall);
  if (!isBusy) return parts.every(isUnreadable) ? undefined : { slot: said, isWhole: true };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return text.trim() === "" ? undefined : { slot: withText(slot, text, tokensOf), isWhole: false };
}

/**
 * Removes images and reasoning from a text message and clips tool output in it. Images and output can be retrieved
 * again; the conclusion of the reasoning is the text itself.
 */
export function dropExtras(slot: Slot, tokensOf: TokenEstimator): Slot {
  const message = withoutReasoning(withoutImages(clipInlineToolOutput(slot.message, MAX_OUTPUT_CHARACTERS)));
  if (message === slot.message) return slot;
  return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
}

/** Replaces each image of a message with a short text. */
function withoutImages(message: Message): Message {
  const isImage = (part: Part) => part.type === "blob" && part.of === undefined;
  if (!message.parts.some(isImage)) return message;
  const parts = message.parts.map(
    (part): Part => (isImage(part) ? { type: "text", text: "[image removed]" } : part),
  );
  return { ...message, parts };
}

/** The message without reasoning; unchanged if nothing else would be left, or if it may not be sent without. */
function withoutReasoning(message: Message): Message {
  if (needsReasoning(message)) return message;
  const parts = message.parts.filter((part) => getType(part) !== "reasoning");
  return parts.length === message.parts.length || parts.every(isUnreadable) ? message : { ...message, parts };
}

/** True for parts without readable text: reasoning, and raw parts of a foreign format. */
function isUnreadable(part: Part): boolean {
  const type = getType(part);
  return type === "reasoning" || type === "raw";
}

/** The type of a part, or of the part that a blob stands for. */
function getType(part: Part): string | undefined {
  return part.type === "blob" ? part.of : part.type;
}

function withText(slot: Slot, text: string, tokensOf: TokenEstimator): Slot {
  const message: Message = { role: slot.message.role, parts: [{ type: "text", text }] };
  return { ...slot, message, tokens: tokensOf(message) };
}

/** One call of the running turn. */
interface Step {
  readonly seq: number;
  readonly cite: string;
  readonly callId: string | undefined;
  /** Tool and target: "Read src/a.ts". */
  readonly label: string;
  outcome: string;
}

const MAX_TARGET_CHARACTERS = 80;
const MAX_ERROR_CHARACTERS = 80;
const EXIT = /\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b/i;
/** Fields of a call that name its subject, most telling first. */
const TARGET_FIELDS = ["pattern", "query", "url", "description", "name", "prompt"];

/**
 * Remembers every step of the running turn in one line: tool, target and outcome. A model that no longer sees which
 * files it has read reads them again, so these lines stay in the window when the steps leave it.
 */
export class TurnSteps {
  #steps: Step[] = [];

  /** Begins a new turn. */
  begin(): void {
    this.#steps = [];
  }

  /** Records the calls and results of the next message; `isOutput` is true for a user message with tool output only. */
  observe({ seq, cite = `#${seq}`, message }: Slot, isOutput: boolean): void {
    if (isOutput) {
      const label = buildOutputHeading(message) ?? "tool";
      const outcome = describeOutput(textOf(message.parts), false);
      this.#steps.push({ seq, cite, callId: undefined, label, outcome });
      return;
    }
    for (const part of message.parts) {
      if (part.type === "tool-call")
        this.#steps.push({ seq, cite, callId: part.callId, label: describeStep(part), outcome: "" });
      if (part.type !== "tool-result") continue;
      const step = this.#steps.findLast(({ callId, outcome }) => callId === part.callId && outcome === "");
      if (step) step.outcome = describeOutput(textOf(part.output), part.isError === true);
    }
  }

  /** A line for each step whose message is not among the shown ones. */
  listLines(shown: ReadonlySet<number>): readonly ExtractLine[] {
    const bySeq = Map.groupBy(
      this.#steps.filter(({ seq }) => !shown.has(seq)),
      ({ seq }) => seq,
    );
    return [...bySeq].map(([seq, steps]): ExtractLine => {
      const heading = steps.map(({ label, outcome }) => label + outcome).join("; ");
      return { text: "", source: { seq, cite: steps[0]?.cite ?? `#${seq}`, heading }, order: -2 };
    });
  }
}

function describeStep(call: ToolCallPart): string {
  const touches = findTouches(call);
  const paths = [...new Set(touches.flatMap(({ path }) => path ?? []))];
  const command = touches.find(({ kind }) => kind === "run")?.command;
  const target = command ?? (paths.length > 0 ? paths.join(" ") : findTarget(call.input));
  return target === "" ? call.name : `${call.name} ${toOneLine(target, MAX_TARGET_CHARACTERS)}`;
}

function findTarget(input: Json): string {
  if (typeof input === "string") return input;
  if (input === null || typeof input !== "object" || Array.isArray(input)) return "";
  const fields = input as { readonly [key: string]: Json };
  const named = TARGET_FIELDS.map((name) => fields[name]);
  const found = [...named, ...Object.values(fields)].find((value) => typeof value === "string");
  return typeof found === "string" ? found : "";
}

function describeOutput(text: string, isError: boolean): string {
  const exit = EXIT.exec(text.slice(0, 400))?.[1] ?? EXIT.exec(text.slice(-400))?.[1];
  if (exit !== undefined && exit !== "0") return `: exit ${exit}`;
  if (isError) return `: error, ${toOneLine(text, MAX_ERROR_CHARACTERS)}`;
  const lines = text === "" ? 0 : text.trimEnd().split("\n").length;
  return lines === 0 ? "" : `, ${lines} ${lines === 1 ? "line" : "lines"}`;
}

function textOf(parts: Message["parts"] | ToolResultPart["output"]): string {
  return parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "blob" ? [part.preview ?? ""] : [],
    )
    .join("\n");
}

function toOneLine(text: string, most: number): string {
  return clipEnd(text.replace(/[\s[\]]+/g, " ").trim(), most);
}
