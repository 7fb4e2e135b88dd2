import { answeredBy, callIdsOf, isCall } from "../../../model/calls.ts";
import type { Message } from "../../../model/message.ts";
import type { Part } from "../../../model/part.ts";
import type { TokensOf } from "../../apply-edits.ts";
import { withoutImages } from "../../clip.ts";
import type { Slot } from "../../slot.ts";
import { clipToldOutput, wordsBeforeTagCall } from "../../told-output.ts";

/** Maximum characters of tool output kept in a user message next to the user's own text. */
const MAX_OUTPUT_CHARACTERS = 200;

/** The text of one message. */
export interface Words {
  /** The original message, or only its text if it also calls tools or answers calls. */
  readonly slot: Slot;
  /** True if the message is nothing but text, so that it can be shown unchanged. */
  readonly isWhole: boolean;
}

/**
 * The texts of user and assistant, in order, from which removed messages can return to a window. Bounded by tokens; the
 * oldest are dropped first, but never the very first.
 */
export class SaidWords {
  readonly #maxTokens: number;
  readonly #tokensOf: TokensOf;
  #words: Words[] = [];
  /** Seqs of texts that the limit has forced out of the window. */
  #out = new Set<number>();
  #tokens = 0;

  constructor(maxTokens: number, tokensOf: TokensOf) {
    this.#maxTokens = maxTokens;
    this.#tokensOf = tokensOf;
  }

  /** All remembered texts, including those that the limit has forced out. */
  get all(): readonly Words[] {
    return this.#words;
  }

  /** The texts that no limit has forced out. */
  get staying(): readonly Words[] {
    return this.#out.size === 0 ? this.#words : this.#words.filter(({ slot }) => !this.#out.has(slot.seq));
  }

  /** Total tokens of `staying`. */
  get stayingTokens(): number {
    let tokens = this.#tokens;
    if (this.#out.size > 0)
      for (const { slot } of this.#words) if (this.#out.has(slot.seq)) tokens -= slot.tokens;
    return tokens;
  }

  /** Records which texts the limit has left in the window; all others stay out until there is room for them again. */
  forceOutOthers(seqs: ReadonlySet<number>): void {
    this.#out = new Set(this.#words.flatMap(({ slot }) => (seqs.has(slot.seq) ? [] : [slot.seq])));
  }

  /** Adds the text of the next message, if it has any. */
  add(slot: Slot): void {
    const words = wordsOf(slot, this.#tokensOf);
    if (words) this.#put(words);
  }

  /**
   * The texts in `slots` and the remembered texts that have left them; includes texts that the limit forced out only if
   * `isForced`.
   */
  beside(slots: readonly Slot[], outputs: ReadonlySet<number>, isForced: boolean): readonly Words[] {
    const here = wordsIn(slots, outputs, this.#tokensOf);
    const seqs = new Set(slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const gone = (isForced ? this.#words : this.staying).filter(({ slot }) => !seqs.has(slot.seq));
    return [...gone, ...here].sort((one, other) => one.slot.seq - other.slot.seq);
  }

  /** Records that the last message was a call written as a tag, so only the text before the tag counts. */
  lastWasCall(): void {
    const last = this.#words.at(-1);
    if (!last?.isWhole || last.slot.message.role !== "assistant") return;
    const text = wordsBeforeTagCall(last.slot.message);
    if (text === undefined) return;
    this.#words.pop();
    this.#tokens -= last.slot.tokens;
    if (text !== "") this.#put({ slot: withText(last.slot, text, this.#tokensOf), isWhole: false });
  }

  #put(words: Words): void {
    this.#words.push(words);
    this.#tokens += words.slot.tokens;
    if (this.#tokens <= this.#maxTokens * 1.25) return;
    // Drops many at once, because removing them one by one would be quadratic.
    let from = 1;
    while (from < this.#words.length - 1 && this.#tokens > this.#maxTokens)
      this.#tokens -= (this.#words[from++] as Words).slot.tokens;
    for (const { slot } of this.#words.splice(1, from - 1)) this.#out.delete(slot.seq);
  }
}

/**
 * The texts in slots. Messages that contain only tool output have none, and the message before such output ends with a
 * call.
 */
function wordsIn(slots: readonly Slot[], outputs: ReadonlySet<number>, tokensOf: TokensOf): readonly Words[] {
  const own = slots.filter(({ isNote }) => !isNote);
  return own.flatMap((slot, index) => {
    if (outputs.has(slot.seq)) return [];
    const words = wordsOf(slot, tokensOf);
    const next = own[index + 1];
    if (!words?.isWhole || !next || !outputs.has(next.seq)) return words ?? [];
    const text = wordsBeforeTagCall(slot.message);
    if (text === undefined) return words;
    return text === "" ? [] : { slot: withText(slot, text, tokensOf), isWhole: false };
  });
}

function wordsOf(slot: Slot, tokensOf: TokensOf): Words | undefined {
  const { role, parts } = slot.message;
  if (role === "tool" || parts.length === 0) return undefined;
  const said = withoutExtras(slot, tokensOf);
  const isBusy =
    callIdsOf(slot.message).length > 0 || answeredBy(slot.message).length > 0 || parts.some(isCall);
  if (!isBusy) return parts.every(isWork) ? undefined : { slot: said, isWhole: true };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return text.trim() === "" ? undefined : { slot: withText(slot, text, tokensOf), isWhole: false };
}

/** Removes images and clips tool output in a text message; both can be retrieved again. */
export function withoutExtras(slot: Slot, tokensOf: TokensOf): Slot {
  const message = withoutImages(clipToldOutput(slot.message, MAX_OUTPUT_CHARACTERS));
  if (message === slot.message) return slot;
  return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
}

/** True for parts without readable text: reasoning, and raw parts of a foreign format. */
function isWork(part: Part): boolean {
  const type = part.type === "blob" ? part.of : part.type;
  return type === "reasoning" || type === "raw";
}

function withText(slot: Slot, text: string, tokensOf: TokensOf): Slot {
  const message: Message = { role: slot.message.role, parts: [{ type: "text", text }] };
  return { ...slot, message, tokens: tokensOf(message) };
}
