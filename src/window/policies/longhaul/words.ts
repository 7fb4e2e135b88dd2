import { answeredBy, callIdsOf, isCall } from "../../../model/calls.ts";
import type { Message } from "../../../model/message.ts";
import type { Part } from "../../../model/part.ts";
import type { TokensOf } from "../../apply-edits.ts";
import { withoutImages } from "../../clip.ts";
import type { Slot } from "../../slot.ts";
import { clipToldOutput, wordsBeforeTagCall } from "../../told-output.ts";

/** Of tool output in the user's name, what is left beside words of the user. */
const MAX_OUTPUT_CHARACTERS = 200;

/** What somebody said in one message. */
export interface Words {
  /** The message as it was said, or only its words where it also calls tools or answers them. */
  readonly slot: Slot;
  /** True if the message is nothing but words, so that it can be shown as it was. */
  readonly isWhole: boolean;
}

/**
 * What the user and the assistant have said, in order: what has left a window can return from here. Bounded by tokens;
 * the oldest go first, but never the very first.
 */
export class SaidWords {
  readonly #maxTokens: number;
  readonly #tokensOf: TokensOf;
  #words: Words[] = [];
  /** Seqs of words that the limit has forced out of the window. */
  #out = new Set<number>();
  #tokens = 0;

  constructor(maxTokens: number, tokensOf: TokensOf) {
    this.#maxTokens = maxTokens;
    this.#tokensOf = tokensOf;
  }

  /** All that is remembered, also what the limit has forced out. */
  get all(): readonly Words[] {
    return this.#words;
  }

  /** What no limit has forced out. */
  get staying(): readonly Words[] {
    return this.#out.size === 0 ? this.#words : this.#words.filter(({ slot }) => !this.#out.has(slot.seq));
  }

  /** Tokens of what is staying. */
  get stayingTokens(): number {
    let tokens = this.#tokens;
    if (this.#out.size > 0)
      for (const { slot } of this.#words) if (this.#out.has(slot.seq)) tokens -= slot.tokens;
    return tokens;
  }

  /** Says which words the limit has left in the window: all others are out until it has room for them again. */
  forceOutOthers(seqs: ReadonlySet<number>): void {
    this.#out = new Set(this.#words.flatMap(({ slot }) => (seqs.has(slot.seq) ? [] : [slot.seq])));
  }

  /** Takes in the words of the next message, if there are any. */
  add(slot: Slot): void {
    const words = wordsOf(slot, this.#tokensOf);
    if (words) this.#put(words);
  }

  /** What was said in some slots and, if `isForced`, also what the limit has forced out, and all else that has left them. */
  beside(slots: readonly Slot[], outputs: ReadonlySet<number>, isForced: boolean): readonly Words[] {
    const here = wordsIn(slots, outputs, this.#tokensOf);
    const seqs = new Set(slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const gone = (isForced ? this.#words : this.staying).filter(({ slot }) => !seqs.has(slot.seq));
    return [...gone, ...here].sort((one, other) => one.slot.seq - other.slot.seq);
  }

  /** Says that the last message was a call after all, which was written as a tag: only what comes before it was said. */
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
    // Many at once, for taking them off the front one by one would be quadratic.
    let from = 1;
    while (from < this.#words.length - 1 && this.#tokens > this.#maxTokens)
      this.#tokens -= (this.#words[from++] as Words).slot.tokens;
    for (const { slot } of this.#words.splice(1, from - 1)) this.#out.delete(slot.seq);
  }
}

/** What was said in slots: messages that only hold tool output say nothing, those before them end with a call. */
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

/** A message of words without pictures and tool output that it also holds: those can be had again. */
export function withoutExtras(slot: Slot, tokensOf: TokensOf): Slot {
  const message = withoutImages(clipToldOutput(slot.message, MAX_OUTPUT_CHARACTERS));
  if (message === slot.message) return slot;
  return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
}

/** True for what says nothing to anybody: reasoning, and calls that only their format knows. */
function isWork(part: Part): boolean {
  const type = part.type === "blob" ? part.of : part.type;
  return type === "reasoning" || type === "raw";
}

function withText(slot: Slot, text: string, tokensOf: TokensOf): Slot {
  const message: Message = { role: slot.message.role, parts: [{ type: "text", text }] };
  return { ...slot, message, tokens: tokensOf(message) };
}
