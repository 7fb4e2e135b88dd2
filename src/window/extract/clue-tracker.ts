import { BoundedMap } from "../../model/base/caches.ts";
import type { Message } from "../../model/message.ts";
import { buildOutputHeading } from "../inline-tool-output.ts";
import type { Slot } from "../slot.ts";
import { buildClueKey, type Clue, ClueTable } from "./clue-table.ts";
import { estimateNeed, type Horizon } from "./estimate-need.ts";
import { growColumn } from "./grow-column.ts";
import { LineList, type QuoteSource } from "./line-list.ts";
import { type CallFacts, getCallFacts, listPartTexts, type PartText, TEXT_ORIGINS } from "./part-text.ts";
import { scanUnits } from "./scan-identifiers.ts";
import { withUnits } from "./text-units.ts";
import { MAX_VERBATIM, MIN_VERBATIM } from "./verbatim-line.ts";

const NEWLINE = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const BAR = 0x7c;
const ARROW = 0x2192;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** Units that `trim` removes, and units that `\w` matches. */
const SPACES = new Uint8Array(65_536);
const WORDS = new Uint8Array(65_536);
for (let unit = 0; unit < 65_536; unit++) {
  const character = String.fromCharCode(unit);
  if (/\s/.test(character)) SPACES[unit] = 1;
  if (/\w/.test(character)) WORDS[unit] = 1;
}

/** Clues and lines found in a message. */
export interface MessageClues {
  /** Clues of the whole message; may contain duplicates. */
  readonly clues: readonly Clue[];
  /** The lines that can be kept when the message leaves. */
  readonly lines: LineList;
}

const MAX_LINE = 400;
const MIN_LINE = 5;
const MAX_FACTS = 120_000;
const MAX_CALLS = 2_000;
const MAX_FILES = 5_000;
const CHARACTERS_PER_TOKEN = 4;
const NOTHING = new Float32Array(0);

/**
 * A reusable set of clues, to count each once. All sessions share the sets, which is safe because reading is
 * synchronous.
 */
class ClueMarks {
  #marked = new Int32Array(256);
  #now = 0;

  /** Removes all marks. */
  clear(): void {
    // Wraps around at 32 bits.
    this.#now = (this.#now + 1) | 0;
  }

  /** Marks a clue; returns true if it was not marked yet. */
  add(clue: Clue): boolean {
    if (clue >= this.#marked.length) this.#marked = growColumn(this.#marked, clue * 2);
    if (this.#marked[clue] === this.#now) return false;
    this.#marked[clue] = this.#now;
    return true;
  }
}

/** `seenInPart` and `namedInPart` mark clues of the part being read; `addedToLine` marks clues of its current line. */
const seenInPart = new ClueMarks();
const namedInPart = new ClueMarks();
const addedToLine = new ClueMarks();

/** Counts the clues of a session as messages arrive. Bounded, and never looks ahead. */
export class ClueTracker {
  readonly #horizon: Horizon;
  readonly #table = new ClueTable(MAX_FACTS);
  /**
   * Numbers of files by their path. `#fileCount` counts all files, so that a new file takes the number of the one that it
   * evicts.
   */
  readonly #files = new BoundedMap<string, number>({ max: MAX_FILES });
  #fileCount = 0;
  readonly #lastTouched: number[] = [0];
  readonly #calls = new BoundedMap<string, CallFacts>({ max: MAX_CALLS });
  /** Number of messages read; `#ranking` counts the rankings started. */
  #now = 0;
  #ranking = 0;
  /** Worth of each clue in the current ranking: its need, or 0 once something covers it. */
  #worth = NOTHING;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
  }

  get size(): number {
    return this.#table.size;
  }

  /** Reads the next message of the log. */
  read({ seq, cite, message }: Pick<Slot, "seq" | "cite" | "message">): MessageClues {
    for (const part of message.parts)
      if (part.type === "tool-call") this.#calls.set(part.callId, getCallFacts(part));
    const source = { seq, cite: cite ?? `#${seq}`, heading: this.#buildHeading(message) };
    const clues: Clue[] = [];
    const lines = new LineList();
    // System messages never leave the window, and an extract would quote them as the user's words.
    const said = message.role === "system" ? [] : listPartTexts(message, (callId) => this.#calls.get(callId));
    for (const own of said) this.#readPart(own, message.role === "assistant", source, clues, lines);
    this.#now++;
    return { clues, lines };
  }

  /** The known clues in a message as the window shows it. */
  findClues(message: Message): readonly Clue[] {
    const clues: Clue[] = [];
    const tell = (key: number) => {
      const clue = this.#table.find(key);
      if (clue !== undefined) clues.push(clue);
    };
    for (const { text } of listPartTexts(message, (callId) => this.#calls.get(callId)))
      withUnits(text, (units, length) => {
        const report = createReporter(tell);
        forEachBareLine(units, length, (from, to) => report(units, from, to));
      });
    return clues;
  }

  /** Starts a ranking: sets the worth of every clue to the probability that the assistant names it again. */
  startRanking(): void {
    this.#ranking++;
    const { size, last, heldIn, need, neededAt } = this.#table;
    for (let clue = 0; clue < size; clue++) {
      const at = neededAt[clue] as number;
      if (at > 0) {
        // Only clues on the shelf are ranked, and need decays ever more slowly, so recompute it when the clue is a
        // quarter older.
        if (heldIn[clue] !== this.#ranking - 1) continue;
        if (4 * (this.#now - at) <= at - (last[clue] as number)) continue;
      }
      need[clue] = this.#estimateNeed(clue);
      neededAt[clue] = this.#now;
    }
    this.#worth = need.slice(0, size);
  }

  /** Ends a ranking and releases its memory. */
  endRanking(): void {
    this.#worth = NOTHING;
  }

  /** Sets the worth of clues to 0, because the window already contains them. */
  cover(clues: readonly Clue[], from = 0, to = clues.length): void {
    const worth = this.#worth;
    for (let index = from; index < to; index++) worth[clues[index] as Clue] = 0;
  }

  /** Total worth of some clues. */
  sumWorth(clues: readonly Clue[], from: number, to: number): number {
    const worth = this.#worth;
    let sum = 0;
    for (let index = from; index < to; index++) sum += worth[clues[index] as Clue] as number;
    return sum;
  }

  /** Protects clues from eviction until the next ranking; false if the line was already held in this one. */
  hold(clues: readonly Clue[], from: number, to: number): boolean {
    const { heldIn } = this.#table;
    const last = clues[to - 1] as Clue;
    const isAgain = this.#table.isLine(last) && heldIn[last] === this.#ranking;
    for (let index = from; index < to; index++) heldIn[clues[index] as Clue] = this.#ranking;
    return !isAgain;
  }

  #estimateNeed(clue: Clue): number {
    const table = this.#table;
    const now = this.#now;
    const file = table.file[clue] as number;
    const history = {
      isLine: table.isLine(clue),
      origin: table.originOf(clue),
      seen: table.seen[clue] as number,
      named: table.named[clue] as number,
      age: now - (table.last[clue] as number),
      sinceNamed: now - (table.lastNamed[clue] as number),
      pathAge: file === 0 ? undefined : now - (this.#lastTouched[file] as number),
    };
    return estimateNeed(history, this.#horizon);
  }

  #readPart(
    { text, origin, path }: PartText,
    isAssistant: boolean,
    source: QuoteSource,
    clues: Clue[],
    lines: LineList,
  ): void {
    const table = this.#table;
    seenInPart.clear();
    namedInPart.clear();
    const isReasoning = origin === "reasoning";
    const isNaming = isAssistant && !isReasoning;
    const file = path === undefined ? 0 : this.#touch(path);
    const now = this.#now;
    const ranking = this.#ranking;
    const originNumber = TEXT_ORIGINS.indexOf(origin);
    const own: Clue[] = [];
    const report = createReporter((key, isLine, isWhole) => {
      const clue = table.findOrAdd(key, isLine, now, ranking);
      if (addedToLine.add(clue)) own.push(clue);
      if (seenInPart.add(clue)) {
        table.countSeen(clue, now, originNumber, file);
        clues.push(clue);
      }
      if (isNaming && isWhole && namedInPart.add(clue)) table.countNamed(clue, now);
    });
    withUnits(text, (units, length) =>
      forEachBareLine(units, length, (from, to, end) => {
        if (to - from < MIN_LINE) return;
        const cut = to - from > MAX_LINE ? text.slice(from, from + MAX_LINE).toWellFormed() : undefined;
        if (cut !== undefined) report(units, from, to);
        own.length = 0;
        addedToLine.clear();
        if (cut === undefined) report(units, from, to);
        else withUnits(cut, (cutUnits, cutLength) => report(cutUnits, 0, cutLength));
        if (own.length === 0 || isReasoning) return;
        const isSlice = cut === undefined && to === end && end < length;
        const words = isSlice ? text.slice(from, to + 1) : `${cut ?? text.slice(from, to)}\n`;
        lines.add(words, Math.ceil(words.length / CHARACTERS_PER_TOKEN), source, own);
      }),
    );
  }

  /** The heading for a message's lines: the tool and the file, or the role. */
  #buildHeading(message: Message): string {
    const result = message.parts.find((part) => part.type === "tool-result");
    if (!result) return buildOutputHeading(message) ?? message.role;
    const call = this.#calls.get(result.callId);
    return [call?.name ?? "tool", call?.path].filter(Boolean).join(" ");
  }

  #touch(path: string): number {
    const known = this.#files.get(path);
    const file = known ?? (this.#fileCount++ % MAX_FILES) + 1;
    if (known === undefined) this.#files.set(path, file);
    this.#lastTouched[file] = this.#now;
    return file;
  }
}

/** Receives a clue by its key; `isWhole` is false for an identifier found inside another one. */
type ClueListener = (key: number, isLine: boolean, isWhole: boolean) => void;

/** Returns a function that reports the clues of a bare line, given as a range of units. */
function createReporter(tell: ClueListener): (units: Uint16Array, from: number, to: number) => void {
  const tellIdentifier = (units: Uint16Array, from: number, to: number, isWhole: boolean) =>
    tell(buildClueKey(units, from, to, false), false, isWhole);
  return (units, from, to) => {
    scanUnits(units, from, to, true, tellIdentifier);
    if (isVerbatimRange(units, from, to)) tell(buildClueKey(units, from, to, true), true, true);
  };
}

/**
 * Calls a function with the range of each line among the units of a text, stripped like `stripLine`, and the place where
 * the whole line ends.
 */
export function forEachBareLine(
  units: Uint16Array,
  length: number,
  read: (from: number, to: number, end: number) => void,
): void {
  for (let start = 0; start <= length; ) {
    let end = start;
    while (end < length && units[end] !== NEWLINE) end++;
    let from = skipDiffMark(units, skipLineNumber(units, start, end), end);
    let to = end;
    while (from < to && SPACES[units[from] as number] === 1) from++;
    while (to > from && SPACES[units[to - 1] as number] === 1) to--;
    read(from, to, end);
    start = end + 1;
  }
}

function skipLineNumber(units: Uint16Array, start: number, end: number): number {
  let at = start;
  while (at < end && SPACES[units[at] as number] === 1) at++;
  const digits = at;
  while (at < end && isDigit(units[at] as number)) at++;
  if (at === digits || at === end) return start;
  const mark = units[at];
  return mark === ARROW || mark === TAB || mark === COLON || mark === BAR ? at + 1 : start;
}

function skipDiffMark(units: Uint16Array, at: number, end: number): number {
  if (at >= end || !isSign(units[at] as number)) return at;
  return at + 1 < end && isSign(units[at + 1] as number) ? at : at + 1;
}

/** Like `isVerbatim`, for a range of units that holds a line without its marks. */
export function isVerbatimRange(units: Uint16Array, from: number, to: number): boolean {
  if (to - from < MIN_VERBATIM || to - from > MAX_VERBATIM) return false;
  for (let at = from, count = 0; at < to; at++) {
    count = WORDS[units[at] as number] === 1 ? count + 1 : 0;
    if (count === 3) return true;
  }
  return false;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isSign(unit: number): boolean {
  return unit === PLUS || unit === MINUS;
}
