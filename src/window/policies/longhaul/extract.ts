import type { TokensOf } from "../../apply-edits.ts";
import { chooseLines } from "../../extract/choose-lines.ts";
import { Facts, type Reading } from "../../extract/facts.ts";
import type { LineList, Source } from "../../extract/line-list.ts";
import type { Horizon } from "../../extract/need.ts";
import { Shelf } from "../../extract/shelf.ts";
import type { Slot } from "../../slot.ts";
import type { ExtractLine } from "./notes.ts";

/** What the lines of an extract may take. */
export interface ExtractRoom {
  /** Tokens, and the number of notes that may come out of it. */
  readonly room: number;
  readonly notes: number;
  readonly tokensOf: TokensOf;
}

/** Below this space only what is needed soon pays. */
const NARROW_TOKENS = 16_000;
const LEAST: Readonly<Record<Horizon, number>> = { near: 0.002, far: 0.0009 };
const NOTE_TOKENS = 25;
const SAMPLED_LINES = 64;
/** Where nothing pays, what left is still told of: with so many tokens of lines, or with the name of the newest alone. */
const TRACE: { readonly tokens: number; readonly least: number } = { tokens: 120, least: 1e-6 };
const NAME_TOKENS = 45;

/** What is known of a session besides its window: facts, lines of what has left, and what was found in what has not. */
export class Extract {
  readonly #horizon: Horizon;
  #made: Facts | undefined;
  readonly #shelf = new Shelf();
  readonly #readings = new Map<number, Reading>();
  /** Not read yet: a session that was taken over may never need it. */
  #unread: Slot[] | undefined;
  /** Observed and not read yet, if that may wait. */
  readonly #pending: Slot[] = [];
  readonly #isPatient: boolean;

  /** `earlier` are messages that were said before, as they were said. */
  constructor(space: number, earlier: readonly Slot[], isPatient: boolean) {
    this.#isPatient = isPatient;
    this.#horizon = space < NARROW_TOKENS ? "near" : "far";
    this.#unread = earlier.length > 0 ? [...earlier] : undefined;
  }

  /** Made when it is first needed: most sessions never rebuild their window. */
  get #facts(): Facts {
    this.#made ??= new Facts(this.#horizon);
    return this.#made;
  }

  /** Takes in the next message. */
  observe(slot: Slot): void {
    if (this.#unread) this.#unread.push(slot);
    else {
      this.#pending.push(slot);
      if (!this.#isPatient) this.digest();
    }
  }

  /** Reads what was put off. */
  digest(): void {
    for (const slot of this.#pending) this.#readings.set(slot.seq, this.#facts.read(slot));
    this.#pending.length = 0;
  }

  /**
   * Puts away what leaves the window and chooses the lines that come back beside what it shows: those that pay, or a trace of
   * what left where none does.
   */
  replace(
    left: readonly Slot[],
    shown: readonly Slot[],
    { room, notes, tokensOf }: ExtractRoom,
  ): readonly ExtractLine[] {
    this.#readAll(shown);
    this.digest();
    for (const { seq } of left) this.#putAway(seq);
    this.#facts.startRanking();
    for (const { message, original, seq, isNote } of shown) {
      const reading = original || isNote ? undefined : this.#readings.get(seq);
      this.#facts.cover(reading?.facts ?? this.#facts.factsIn(message));
    }
    const worths = this.#shelf.rank(this.#facts);
    const chosen = this.#chosen(worths, room, notes, tokensOf);
    this.#facts.endRanking();
    return chosen;
  }

  #chosen(worths: Float32Array, room: number, notes: number, tokensOf: TokensOf): readonly ExtractLine[] {
    const { lines } = this.#shelf;
    const density = densityOf(lines, tokensOf);
    const choose = (tokens: number, least: number) =>
      chooseLines(lines, worths, this.#facts, { room: tokens / density, least }).map((index) => ({
        text: lines.texts[index] as string,
        source: lines.sources[index] as Source,
        order: index,
      }));
    const paying = choose(room - NOTE_TOKENS * notes, LEAST[this.#horizon]);
    if (paying.length > 0) return paying;
    const trace = choose(Math.min(TRACE.tokens, room - NOTE_TOKENS), TRACE.least);
    const newest = room < NAME_TOKENS ? undefined : lines.sources.at(-1);
    return trace.length > 0 || !newest ? trace : [{ text: "", source: newest, order: 0 }];
  }

  #readAll(shown: readonly Slot[]): void {
    if (!this.#unread) return;
    for (const slot of this.#unread) this.#readings.set(slot.seq, this.#facts.read(slot));
    this.#unread = undefined;
    const seqs = new Set(shown.map(({ seq }) => seq));
    for (const seq of [...this.#readings.keys()]) if (!seqs.has(seq)) this.#putAway(seq);
  }

  #putAway(seq: number): void {
    const reading = this.#readings.get(seq);
    if (reading) this.#shelf.put(reading.lines);
    this.#readings.delete(seq);
  }
}

/** What lines really take, beside what they were counted as. */
function densityOf(lines: LineList, tokensOf: TokensOf): number {
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
