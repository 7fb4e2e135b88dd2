import type { TokenEstimator } from "../../apply-edits.ts";
import { chooseLines } from "../../extract/choose-lines.ts";
import { ClueTracker, type MessageClues } from "../../extract/clue-tracker.ts";
import type { Horizon } from "../../extract/estimate-need.ts";
import { EvictedLines } from "../../extract/evicted-lines.ts";
import type { LineList, QuoteSource } from "../../extract/line-list.ts";
import type { Slot } from "../../slot.ts";
import type { ExtractLine } from "./extract-notes.ts";

/** Limits for the lines of an extract. */
interface ExtractLimits {
  /** Tokens for the extract; `notes` is the maximum number of notes it is split into. */
  readonly roomTokens: number;
  readonly maxNotes: number;
  readonly tokensOf: TokenEstimator;
}

/** With less space than this, only lines needed soon are worth keeping. */
const NARROW_TOKENS = 9_000;
const MIN_WORTH: Readonly<Record<Horizon, number>> = { near: 0.002, far: 0.0022 };
const NOTE_TOKENS = 25;
const SAMPLED_LINES = 64;
/**
 * Used if no line pays: the extract then shows up to this many tokens of lines, or only the name of the newest message.
 */
const TRACE: { readonly tokens: number; readonly least: number } = { tokens: 120, least: 1e-6 };
const NAME_TOKENS = 45;

/** Clues of a session, lines of messages that have left its window, and the readings of messages still in it. */
export class Extract {
  readonly #horizon: Horizon;
  #lazyClues: ClueTracker | undefined;
  readonly #evictedLines = new EvictedLines();
  readonly #messageClues = new Map<number, MessageClues>();
  /** Slots not read yet; a session that was taken over may never need them. */
  #unread: Slot[] | undefined;
  /** Slots observed but not read yet, if reading may be deferred. */
  readonly #pending: Slot[] = [];
  readonly #isPatient: boolean;

  /** `earlier` are all previous messages in their original form. */
  constructor(space: number, earlier: readonly Slot[], isPatient: boolean) {
    this.#isPatient = isPatient;
    this.#horizon = space < NARROW_TOKENS ? "near" : "far";
    this.#unread = earlier.length > 0 ? [...earlier] : undefined;
  }

  /** Created on first use: most sessions never rebuild their window. */
  get #clues(): ClueTracker {
    this.#lazyClues ??= new ClueTracker(this.#horizon);
    return this.#lazyClues;
  }

  /** Adds the next message. */
  observe(slot: Slot): void {
    if (this.#unread) this.#unread.push(slot);
    else {
      this.#pending.push(slot);
      if (!this.#isPatient) this.digest();
    }
  }

  /** Reads the deferred messages. */
  digest(): void {
    for (const slot of this.#pending) this.#messageClues.set(slot.seq, this.#clues.read(slot));
    this.#pending.length = 0;
  }

  /**
   * Shelves the lines of messages that leave the window and chooses the lines to bring back next to `shown`: those that
   * pay, or a trace of the removed messages if none does.
   */
  replace(
    left: readonly Slot[],
    shown: readonly Slot[],
    { roomTokens: room, maxNotes: notes, tokensOf }: ExtractLimits,
  ): readonly ExtractLine[] {
    this.#readAll(shown);
    this.digest();
    for (const { seq } of left) this.#evict(seq);
    this.#clues.startRanking();
    for (const { message, original, seq, isNote } of shown) {
      const reading = original || isNote ? undefined : this.#messageClues.get(seq);
      this.#clues.cover(reading?.clues ?? this.#clues.findClues(message));
    }
    const worths = this.#evictedLines.rank(this.#clues);
    const chosen = this.#chooseLines(worths, room, notes, tokensOf);
    this.#clues.endRanking();
    return chosen;
  }

  #chooseLines(
    worths: Float32Array,
    room: number,
    notes: number,
    tokensOf: TokenEstimator,
  ): readonly ExtractLine[] {
    const { lines } = this.#evictedLines;
    const density = computeDensity(lines, tokensOf);
    const choose = (tokens: number, least: number) =>
      chooseLines(lines, worths, this.#clues, { roomTokens: tokens / density, minWorth: least }).map(
        (index) => ({
          text: lines.texts[index] as string,
          source: lines.sources[index] as QuoteSource,
          order: index,
        }),
      );
    const paying = choose(room - NOTE_TOKENS * notes, MIN_WORTH[this.#horizon]);
    if (paying.length > 0) return paying;
    const trace = choose(Math.min(TRACE.tokens, room - NOTE_TOKENS), TRACE.least);
    const newest = room < NAME_TOKENS ? undefined : lines.sources.at(-1);
    return trace.length > 0 || !newest ? trace : [{ text: "", source: newest, order: 0 }];
  }

  #readAll(shown: readonly Slot[]): void {
    if (!this.#unread) return;
    for (const slot of this.#unread) this.#messageClues.set(slot.seq, this.#clues.read(slot));
    this.#unread = undefined;
    const seqs = new Set(shown.map(({ seq }) => seq));
    for (const seq of [...this.#messageClues.keys()]) if (!seqs.has(seq)) this.#evict(seq);
  }

  #evict(seq: number): void {
    const reading = this.#messageClues.get(seq);
    if (reading) this.#evictedLines.add(reading.lines);
    this.#messageClues.delete(seq);
  }
}

/** Ratio of the lines' real tokens to their rough estimates. */
function computeDensity(lines: LineList, tokensOf: TokenEstimator): number {
  const step = Math.max(1, Math.floor(lines.length / SAMPLED_LINES));
  let text = "";
  let counted = 0;
  for (let index = 0; index < lines.length; index += step) {
    text += lines.texts[index];
    counted += lines.columns.tokens[index] as number;
  }
  return counted === 0
    ? 1
    : Math.max(0.5, tokensOf({ role: "user", parts: [{ type: "text", text }] }) / counted);
}
