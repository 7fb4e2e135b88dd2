import { isDeepStrictEqual } from "node:util";
import type { Message } from "../../model/message.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { isCall, listProgramCalls } from "../../model/tool-calls.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { findTouches } from "../effects/find-touches.ts";
import { listChanges } from "../effects/list-changes.ts";
import { renderInput } from "../extract/part-text.ts";
import { scanIdentifiers } from "../extract/scan-identifiers.ts";
import { getOwnText } from "../inline-tool-output.ts";
import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { isStubbed } from "../stub.ts";
import {
  compareLines,
  type LineShift,
  NO_NUMBERS,
  OutputLines,
  OWN_NUMBERS,
  SHOWN_NUMBERS,
} from "./output-lines.ts";
import { hasLeftOut, type Pointer, parsePointer } from "./pointer.ts";
import { isRunningCommand } from "./program-output.ts";
import { ShownLines, type ShownText } from "./shown-lines.ts";
import { SHRINK_FILTERS, type ShrinkFilter } from "./shrink-filters.ts";
import { normalizeLines, shrinkLines } from "./shrink-output.ts";

const MAX_CHARACTERS = 60;
const WORD = /^[\w.-]{1,20}$/;
const FLAG = /^-/;

/** Programs whose second word is a subcommand. */
const PROGRAMS = new Set([
  "git",
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "go",
  "cargo",
  "docker",
  "kubectl",
  "make",
  "gh",
]);

/** Words of a question that stand in it literally. */
interface AskedLiterals {
  /** Place of the question. */
  readonly seq: number;
  /** Paths, file names and quoted words: the question asks for results of calls that name one. */
  readonly subjects: readonly string[];
  /** These and other names: the question may ask for a line that contains one. */
  readonly names: readonly string[];
}

const QUOTED = /[`"'“”‘’]([^`"'“”‘’\n]{4,200})[`"'“”‘’]/g;
const FILE_NAME = /\.[A-Za-z][A-Za-z0-9]{0,7}$/;
const MIN_CHARACTERS = 4;
const MAX_LITERALS = 200;

/** The names, paths and quoted words of a question. */
export function findAskedLiterals(question: string, seq: number): AskedLiterals {
  const subjects = new Set<string>();
  const names = new Set<string>();
  for (const [, quoted] of question.matchAll(QUOTED)) subjects.add((quoted as string).trim());
  scanIdentifiers(question, false, (name) => {
    if (name.includes("/") || FILE_NAME.test(name)) subjects.add(name);
    else names.add(name);
  });
  return { seq, subjects: limit(subjects), names: limit([...subjects, ...names]) };
}

/** True if a text contains one of the literals. */
export function hasLiteral(text: string, literals: readonly string[]): boolean {
  return literals.some((literal) => text.includes(literal));
}

function limit(literals: Iterable<string>): readonly string[] {
  return [...new Set(literals)].filter(({ length }) => length >= MIN_CHARACTERS).slice(0, MAX_LITERALS);
}

/** Results below this size stay as they are. */
export const MIN_SHRINK_CHARACTERS = 200;
const MIN_SAVED_CHARACTERS = 60;
const NOTHING_ASKED: AskedLiterals = { seq: 0, subjects: [], names: [] };
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
  /** Calls that a program of the provider made: it needs every byte of their results, and the model sees none. */
  #programCalls = new Set<string>();
  /** Calls, by name and input, with incomplete results: the same call made again gets the whole. */
  #cutCalls = new Set<string>();
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

  /**
   * Takes over a window and returns it with valid pointers: where an earlier result no longer shows the lines that a
   * pointer names, the lines come back. Returns the same array if nothing changes.
   */
  settle(window: readonly Slot[]): readonly Slot[] {
    this.#shownLines = new ShownLines();
    this.#calls = new Map();
    this.#programCalls = new Set();
    this.#cutCalls = new Set();
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
    if (!arrived.some(hasResult)) {
      for (const slot of arrived) this.#add(slot);
      return window;
    }
    const question = window[findNewestQuestion(window)];
    const literals = question ? this.#readLiterals(question) : NOTHING_ASKED;
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

  #readLiterals({ message, seq }: Slot): AskedLiterals {
    if (this.#asked?.message !== message)
      this.#asked = { message, literals: findAskedLiterals(getOwnText(message), seq) };
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
    // A window is compared by its messages, so one that would read the same stays the same.
    if (slot.original && isDeepStrictEqual(parts, slot.message.parts)) return slot;
    const message: Message = { ...original, parts };
    return { ...slot, message, original, tokens: this.#tokensOf(message) };
  }

  #shrinkResult(part: ToolResultPart, slot: Slot, literals: AskedLiterals): ToolResultPart {
    // An error is never shortened.
    if (this.#programCalls.has(part.callId) || part.isError) return part;
    const call = this.#calls.get(part.callId);
    const input = call && literals.subjects.length > 0 ? renderInput(call.input) : "";
    const isAsked = hasLiteral(input.slice(0, MAX_INPUT_CHARACTERS), literals.subjects);
    const isFile = isFileRead(call) || (call !== undefined && isChanging(call));
    const isOneText = hasOneText(part);
    let offset = 0;
    let isChanged = false;
    const output = part.output.map((content) => {
      if (content.type !== "text") return content;
      const { text } = content;
      const normal = normalizeLines(text, isFile, this.#filters);
      const start = offset;
      offset += normal.length;
      if (text.length < MIN_SHRINK_CHARACTERS) return content;
      // Few of the names occur in an output at all.
      const names = literals.names.filter((name) => text.includes(name));
      const lines = shrinkLines(normal, {
        filters: this.#filters,
        shownLines: this.#shownLines,
        cite: citeOf(slot),
        isFile,
        offset: start,
        isOneText,
        askedSeq: literals.seq,
        isAsked,
        isNamed: (line) => names.length > 0 && hasLiteral(line, names),
        isRun: isRun(call),
        isCuttable: call === undefined || !this.#cutCalls.has(keyOf(call)),
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
    if (slot.message.parts.some(isCall))
      for (const callId of listProgramCalls(slot.message)) this.#programCalls.add(callId);
    const place = { seq: slot.seq, cite: citeOf(slot) };
    let calls = 0;
    let results = 0;
    for (const part of slot.message.parts) {
      if (part.type === "tool-call") {
        this.#calls.set(part.callId, part);
        const own = { ...place, part: `call ${++calls}`, isOneText: true };
        if (isChanging(part)) this.#shownLines.add(new LazyText(own, part, () => listWrittenLines(part)));
      }
      if (part.type !== "tool-result") continue;
      const own = { ...place, part: `result ${++results}`, isOneText: hasOneText(part) };
      if (this.#programCalls.has(part.callId)) continue;
      const call = this.#calls.get(part.callId);
      if (call && slot.original && part.output.some(isCut)) this.#cutCalls.add(keyOf(call));
      this.#shownLines.add(new LazyText(own, call, () => listShownLines(part)));
    }
  }

  #hasValidPointers({ message, original }: Slot): boolean {
    return message.parts.every((part, index) => {
      const said = original?.parts[index];
      if (part.type !== "tool-result" || said?.type !== "tool-result" || part === said) return true;
      const pointers = listShownLines(part).flatMap((line) => parsePointer(line) ?? []);
      if (pointers.length === 0) return true;
      const call = this.#calls.get(part.callId);
      const isFile = isFileRead(call) || (call !== undefined && isChanging(call));
      // The pointers may have been written while other filters were on.
      return [this.#filters, ALL_FILTERS, NO_FILTERS].some((filters) => {
        const lines = said.output.flatMap((content) =>
          content.type === "text" ? normalizeLines(content.text, isFile, filters) : [],
        );
        const output = new OutputLines(lines, isRun(call));
        return pointers.every((pointer) => this.#isValid(pointer, output));
      });
    });
  }

  /** True if the window shows all lines that a pointer names, in the relation that it states. */
  #isValid(pointer: Pointer, said: OutputLines): boolean {
    const { from, to, isNumbered, cite, part, line, isShownNumbered, isTimed } = pointer;
    const first = isNumbered ? said.findNumber(from) : from;
    const isShown = ({ output }: ShownText) => {
      const start = isShownNumbered ? output.findNumber(line) : line;
      if (first < 0 || start < 0) return false;
      for (let offset = 0; offset <= to - from; offset++) {
        const shift = compareLines(said, first + offset, output, start + offset);
        const isVerbatim = said.lines[first + offset] === output.lines[start + offset];
        if (!isExpected(shift) || (shift === NO_NUMBERS && !isTimed && !isVerbatim)) return false;
      }
      return true;
    };
    const isExpected = (shift: LineShift | undefined) => {
      if (isNumbered) return shift === (isShownNumbered ? from - line : OWN_NUMBERS + from - first);
      return isShownNumbered ? shift === SHOWN_NUMBERS : shift === NO_NUMBERS || shift === 0;
    };
    return this.#shownLines.findTexts(cite, part).some(isShown);
  }
}

/** Most texts are never compared with another one, so their lines are not split before. */
class LazyText implements ShownText {
  readonly seq: number;
  readonly cite: string;
  readonly part: string;
  readonly isOneText: boolean;
  readonly #call: ToolCallPart | undefined;
  readonly #listLines: () => readonly string[];
  #output: OutputLines | undefined;

  constructor(
    { seq, cite, part, isOneText }: Pick<ShownText, "seq" | "cite" | "part" | "isOneText">,
    call: ToolCallPart | undefined,
    listLines: () => readonly string[],
  ) {
    this.seq = seq;
    this.cite = cite;
    this.part = part;
    this.isOneText = isOneText;
    this.#call = call;
    this.#listLines = listLines;
  }

  get label(): string {
    return this.#call ? describeCall(this.#call) : "";
  }

  get output(): OutputLines {
    this.#output ??= new OutputLines(this.#listLines(), isRun(this.#call));
    return this.#output;
  }
}

/** The lines that a call writes to a file in one piece; a reader could not find his way in several. */
function listWrittenLines(call: ToolCallPart): readonly string[] {
  const [change, ...others] = listChanges(call);
  return change && others.length === 0 ? change.after.split("\n") : [];
}

/** Name and input of a call. */
function keyOf({ name, input }: ToolCallPart): string {
  return `${name} ${JSON.stringify(input)}`;
}

function isCut(content: ToolResultPart["output"][number]): boolean {
  return content.type === "text" && hasLeftOut(content.text);
}

/** True for a call that runs a program for its work. */
function isRun(call: ToolCallPart | undefined): boolean {
  const run = call && findTouches(call).find(({ kind }) => kind === "run");
  return run !== undefined && isRunningCommand(run.command ?? "");
}

function hasOneText({ output }: ToolResultPart): boolean {
  return output.filter(({ type }) => type === "text").length === 1;
}

function hasResult({ message }: Slot): boolean {
  for (const { type } of message.parts) if (type === "tool-result") return true;
  return false;
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

function isChanging(call: ToolCallPart): boolean {
  return findTouches(call).some(({ kind }) => kind === "edit" || kind === "write");
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

/**
 * A call in a few words: the tool with its file, or with the program of its command. Never more of a command, because
 * it may hold a secret, and a description outlives the redaction of the call.
 */
export function describeCall(call: ToolCallPart): string {
  const touches = findTouches(call);
  const path = touches.length === 1 ? touches[0]?.path : undefined;
  const command = touches.find(({ kind }) => kind === "run")?.command;
  const words = path === undefined ? listProgramWords(command ?? "") : [path];
  const line = [call.name, ...words].join(" ").replace(/[\s[\]()]+/g, " ");
  return line.length <= MAX_CHARACTERS
    ? line
    : `${call.name} …${line.slice(-(MAX_CHARACTERS - call.name.length))}`;
}

/** The program, and its subcommand where it has one. */
function listProgramWords(command: string): readonly string[] {
  const [program = "", subcommand = ""] = command.trim().split(/\s+/);
  if (!WORD.test(program)) return [];
  return PROGRAMS.has(program) && WORD.test(subcommand) && !FLAG.test(subcommand)
    ? [program, subcommand]
    : [program];
}
