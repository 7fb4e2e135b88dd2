import type { Message } from "../../model/message.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { listProgramCalls } from "../../model/raw-calls.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { findTouches } from "../effects/find-touches.ts";
import { renderInput } from "../extract/part-text.ts";
import { getOwnText } from "../inline-tool-output.ts";
import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { isStubbed } from "../stub.ts";
import { type AskedLiterals, findAskedLiterals, hasLiteral } from "./asked-literals.ts";
import { describeCall } from "./describe-call.ts";
import { EditedFiles } from "./edited-files.ts";
import { type Pointer, parsePointer } from "./pointer.ts";
import { ShownLines, type ShownResult } from "./shown-lines.ts";
import { SHRINK_FILTERS, type ShrinkFilter } from "./shrink-filters.ts";
import { normalizeLines, shrinkLines } from "./shrink-output.ts";

/** Results below this size stay as they are. */
export const MIN_SHRINK_CHARACTERS = 200;
const MIN_SAVED_CHARACTERS = 60;
const NOTHING_ASKED: AskedLiterals = { subjects: [], names: [] };
const MAX_INPUT_CHARACTERS = 4_000;
const ALL_FILTERS: ReadonlySet<ShrinkFilter> = new Set(SHRINK_FILTERS);
const NO_FILTERS: ReadonlySet<ShrinkFilter> = new Set();

/** Shortens tool results before they are sent for the first time, and keeps the pointers of a window valid. */
export class ResultShrinker {
  readonly #filters: ReadonlySet<ShrinkFilter>;
  readonly #tokensOf: TokenEstimator;
  readonly #pins: ReadonlySet<number>;
  #shownLines = new ShownLines();
  #calls = new Map<string, ToolCallPart>();
  /** Calls that a program of the provider made; it needs every byte of their results. */
  #programCalls = new Set<string>();
  #editedFiles = new EditedFiles();
  /** The question whose literals were read last: a turn has many results and one question. */
  #asked: { readonly message: Message; readonly literals: AskedLiterals } | undefined;

  constructor(filters: ReadonlySet<ShrinkFilter>, tokensOf: TokenEstimator, pins: ReadonlySet<number>) {
    this.#filters = filters;
    this.#tokensOf = tokensOf;
    this.#pins = pins;
  }

  get isOn(): boolean {
    return this.#filters.size > 0;
  }

  /** Records a message that has left the window: its calls may have changed files. */
  observePast(slot: Slot): void {
    for (const part of slot.message.parts)
      if (part.type === "tool-call") this.#editedFiles.observe(part, slot.seq);
  }

  /**
   * Takes over a window and returns it with valid pointers: where an earlier result no longer shows the lines that a
   * pointer names, the lines come back. Returns the same array if nothing changes.
   */
  settle(window: readonly Slot[]): readonly Slot[] {
    this.#shownLines = new ShownLines();
    this.#calls = new Map();
    this.#programCalls = new Set();
    let isChanged = false;
    const settled = window.map((slot) => {
      const valid = this.#restoreLines(slot);
      if (valid !== slot) isChanged = true;
      this.#add(valid);
      return valid;
    });
    return isChanged ? settled : window;
  }

  /** Shortens the results of new messages at the end of a window that was settled before; returns the same array if none changes. */
  shrinkNew(window: readonly Slot[], from: number, isSettled: (slot: Slot) => boolean): readonly Slot[] {
    const arrived = window.slice(from);
    if (arrived.length === 0) return window;
    const hasResults = arrived.some(({ message }) =>
      message.parts.some(({ type }) => type === "tool-result"),
    );
    const question = hasResults ? window[findNewestQuestion(window)] : undefined;
    const literals = question ? this.#readLiterals(question.message) : NOTHING_ASKED;
    let isChanged = false;
    const shrunk = arrived.map((slot) => {
      const isFixed = slot.isNote || slot.original || this.#pins.has(slot.seq) || isSettled(slot);
      const short = isFixed ? this.#restoreLines(slot) : this.#shrinkSlot(slot, literals);
      if (short !== slot) isChanged = true;
      this.#add(short);
      return short;
    });
    return isChanged ? [...window.slice(0, from), ...shrunk] : window;
  }

  #readLiterals(message: Message): AskedLiterals {
    if (this.#asked?.message !== message)
      this.#asked = { message, literals: findAskedLiterals(getOwnText(message)) };
    return this.#asked.literals;
  }

  /** A slot whose pointers all name lines shown before it. */
  #restoreLines(slot: Slot): Slot {
    return isShrunk(slot) && !this.#hasValidPointers(slot) ? this.#shrinkSlot(slot, NOTHING_ASKED) : slot;
  }

  /** The shortened form of a slot, by the lines shown before it. */
  #shrinkSlot(slot: Slot, literals: AskedLiterals): Slot {
    const original = slot.original ?? slot.message;
    let isChanged = false;
    const parts = original.parts.map((part): Part => {
      if (part.type !== "tool-result") return part;
      const short = this.#shrinkResult(part, slot, literals);
      if (short !== part) isChanged = true;
      return short;
    });
    if (!isChanged) {
      if (!slot.original) return slot;
      const { original: _, ...plain } = slot;
      return { ...plain, message: original, tokens: this.#tokensOf(original) };
    }
    const message: Message = { ...original, parts };
    return { ...slot, message, original, tokens: this.#tokensOf(message) };
  }

  #shrinkResult(part: ToolResultPart, slot: Slot, literals: AskedLiterals): ToolResultPart {
    if (this.#programCalls.has(part.callId)) return part;
    const call = this.#calls.get(part.callId);
    const touches = call ? findTouches(call) : [];
    if (touches.some(({ kind }) => kind === "edit" || kind === "write")) return part;
    if (call && literals.subjects.length > 0) {
      const input = renderInput(call.input).slice(0, MAX_INPUT_CHARACTERS);
      if (hasLiteral(input, literals.subjects)) return part;
    }
    const isFile = isFileRead(call);
    const afterSeq = call ? this.#editedFiles.findLastEdit(call) : 0;
    let offset = 0;
    let isChanged = false;
    const output = part.output.map((content) => {
      if (content.type !== "text") return content;
      const { text } = content;
      const normal = normalizeLines(text, isFile, this.#filters);
      const start = offset;
      offset += normal.length;
      if (text.length < MIN_SHRINK_CHARACTERS) return content;
      // Few of the names stand in an output at all.
      const names = literals.names.filter((name) => text.includes(name));
      const lines = shrinkLines(normal, {
        filters: this.#filters,
        shownLines: this.#shownLines,
        cite: citeOf(slot),
        isFile,
        afterSeq,
        offset: start,
        isKept: (line) => names.length > 0 && hasLiteral(line, names),
      });
      const short = lines.join("\n");
      if (text.length - short.length < MIN_SAVED_CHARACTERS) return content;
      isChanged = true;
      return { ...content, text: short };
    });
    return isChanged ? { ...part, output } : part;
  }

  /** Records what a slot shows. */
  #add(slot: Slot): void {
    if (slot.isNote) return;
    for (const callId of listProgramCalls(slot.message)) this.#programCalls.add(callId);
    let result = 0;
    for (const part of slot.message.parts) {
      if (part.type === "tool-call") {
        this.#calls.set(part.callId, part);
        this.#editedFiles.observe(part, slot.seq);
      }
      if (part.type !== "tool-result") continue;
      const call = this.#calls.get(part.callId);
      this.#shownLines.add(
        new LazyResult({ seq: slot.seq, cite: citeOf(slot), result: result++ }, part, call),
      );
    }
  }

  #hasValidPointers({ message, original }: Slot): boolean {
    return message.parts.every((part, index) => {
      const said = original?.parts[index];
      if (part.type !== "tool-result" || said?.type !== "tool-result" || part === said) return true;
      const pointers = listShownLines(part).flatMap((line) => parsePointer(line) ?? []);
      if (pointers.length === 0) return true;
      const isFile = isFileRead(this.#calls.get(part.callId));
      // The pointers may have been written while other filters were on.
      return [this.#filters, ALL_FILTERS, NO_FILTERS].some((filters) => {
        const lines = said.output.flatMap((content) =>
          content.type === "text" ? normalizeLines(content.text, isFile, filters) : [],
        );
        return pointers.every((pointer) => this.#isValid(pointer, lines));
      });
    });
  }

  #isValid({ from, to, cite, result, line }: Pointer, lines: readonly string[]): boolean {
    const wanted = lines.slice(from, to + 1);
    return (
      wanted.length === to - from + 1 &&
      this.#shownLines
        .findResults(cite, result)
        .some((shown) => wanted.every((text, offset) => shown.lines[line + offset] === text))
    );
  }
}

/** A shown result; most are never compared with another one, so their lines are not split before. */
class LazyResult implements ShownResult {
  readonly seq: number;
  readonly cite: string;
  readonly result: number;
  readonly #part: ToolResultPart;
  readonly #call: ToolCallPart | undefined;
  #lines: readonly string[] | undefined;

  constructor(
    { seq, cite, result }: Pick<ShownResult, "seq" | "cite" | "result">,
    part: ToolResultPart,
    call: ToolCallPart | undefined,
  ) {
    this.seq = seq;
    this.cite = cite;
    this.result = result;
    this.#part = part;
    this.#call = call;
  }

  get label(): string {
    return this.#call ? describeCall(this.#call) : "";
  }

  get texts(): readonly string[] {
    return this.#part.output.flatMap((content) => (content.type === "text" ? [content.text] : []));
  }

  get lines(): readonly string[] {
    this.#lines ??= listShownLines(this.#part);
    return this.#lines;
  }
}

/** True if only shortened tool results distinguish a slot from its original. */
export function isShrunk({ message, original, isNote }: Slot): boolean {
  if (isNote || !original || original.role !== message.role || original.parts.length !== message.parts.length)
    return false;
  return message.parts.every((part, index) => {
    const said = original.parts[index];
    if (part === said) return true;
    if (part.type !== "tool-result" || said?.type !== "tool-result") return isEqual(part, said);
    return part.callId === said.callId && part.output.length === said.output.length && !isClipped(part, said);
  });
}

/** The lines of a result as the window shows them. */
function listShownLines(part: ToolResultPart): readonly string[] {
  return part.output.flatMap((content) => (content.type === "text" ? content.text.split("\n") : []));
}

function isFileRead(call: ToolCallPart | undefined): boolean {
  const touches = call ? findTouches(call) : [];
  return touches.length > 0 && touches.every(({ kind }) => kind === "read");
}

function citeOf({ seq, cite = `#${seq}` }: Slot): string {
  return cite;
}

/** Clipping and stubs leave a notice that the original does not have. */
function isClipped(part: ToolResultPart, original: ToolResultPart): boolean {
  return isStubbed(part.output) && !isStubbed(original.output);
}

function isEqual(one: Part, other: Part | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
