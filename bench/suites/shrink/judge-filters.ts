import type { RecordedMessage, ShrinkFilter } from "../../../src/kernel/faces/window.ts";
import type { Message } from "../../../src/model/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../../src/model/part.ts";
import { findTouches } from "../../../src/window/effects/find-touches.ts";
import { isCovering } from "../../../src/window/effects/line-range.ts";
import { listReplacedTexts } from "../../../src/window/effects/list-changes.ts";
import { scanIdentifiers } from "../../../src/window/extract/scan-identifiers.ts";
import { readLineNumber } from "../../../src/window/shrink/output-lines.ts";
import { ResultShrinker } from "../../../src/window/shrink/result-shrinker.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage, estimateText } from "../../../src/window/tokens/estimate.ts";
import type { ChildTask } from "../../child-job.ts";
import { realConversations } from "../window/conversations.ts";

interface Question {
  readonly data: string;
  readonly every: number;
  readonly filters: readonly ShrinkFilter[];
}

/** Savings and losses of one filter; all but the counts are shares. */
export interface Judgement {
  readonly name: string;
  readonly saved: number;
  readonly shortened: number;
  /** A text that an edit replaces, or a name in a call, within ten replies, that stood only in the lines left out. */
  readonly needed: number;
  /** The text that an edit replaces within ten replies stood behind a pointer. */
  readonly behind: number;
  /** The same call, or a read of the same lines, within ten replies in the recording, where the agent saw all. */
  readonly againShort: number;
  readonly againWhole: number;
  /** The share saved, less the whole size of each result that lacked something. */
  readonly net: number;
  readonly slowest: number;
}

const REPLIES = 10;
/** Shorter lines and names stand anywhere. */
const MIN_CHARACTERS = 8;
const MIN_REQUESTS = 20;

/** Judges every filter alone, then all together. */
export const judgeFilters: ChildTask<Question, readonly Judgement[]> = async function judgeFilters(question) {
  const cases = [
    ...question.filters.map((name) => ({ name: name as string, judge: new Judge([name]) })),
    { name: "all", judge: new Judge(question.filters) },
  ];
  const sessions = { least: MIN_REQUESTS, every: question.every };
  for await (const conversation of realConversations(question.data, sessions))
    for (const { judge } of cases) judge.read(conversation);
  return cases.map(({ name, judge }) => ({ name, ...judge.sum() }));
};

/** A result that the agent got some replies ago. */
interface Given {
  readonly reply: number;
  readonly call: ToolCallPart | undefined;
  readonly tokens: number;
  /** Undefined if it was left whole. */
  readonly omitted: { readonly lines: ReadonlySet<string>; readonly names: ReadonlySet<string> } | undefined;
  isAgain: boolean;
  isNeeded: boolean;
  isBehind: boolean;
}

class Judge {
  readonly #filters: ReadonlySet<ShrinkFilter>;
  readonly #given: Given[] = [];
  #tokens = 0;
  #saved = 0;
  #slowest = 0;

  constructor(filters: readonly ShrinkFilter[]) {
    this.#filters = new Set(filters);
  }

  read(conversation: readonly RecordedMessage[]): void {
    const shrinker = new ResultShrinker(this.#filters, estimateMessage, new Set());
    const shown = new ShownTexts();
    const calls = new Map<string, ToolCallPart>();
    let window: readonly Slot[] = shrinker.settle([]);
    let unsent = 0;
    let replies = 0;
    let recent: Given[] = [];
    for (const [index, { message }] of conversation.entries()) {
      const slot: Slot = { seq: index + 1, at: index, message, tokens: 0 };
      if (message.role !== "assistant") {
        window = [...window, slot];
        continue;
      }
      const began = performance.now();
      window = shrinker.shrinkNew(window, unsent, () => false);
      const results = window.slice(unsent).flatMap(({ message }) => message.parts).length;
      this.#slowest = Math.max(this.#slowest, (performance.now() - began) / Math.max(1, results));
      for (const sent of window.slice(unsent)) {
        shown.add(sent.message);
        for (const given of this.#listGiven(sent, replies, calls)) recent.push(given);
      }
      recent = recent.filter(({ reply }) => replies - reply < REPLIES);
      for (const part of message.parts) {
        if (part.type !== "tool-call") continue;
        calls.set(part.callId, part);
        for (const given of recent) judgeCall(given, part, shown);
      }
      shown.add(message);
      window = [...window, slot];
      unsent = window.length - 1;
      replies++;
    }
  }

  *#listGiven(
    { message, original = message }: Slot,
    reply: number,
    calls: ReadonlyMap<string, ToolCallPart>,
  ): Iterable<Given> {
    for (const [index, part] of original.parts.entries()) {
      const short = message.parts[index];
      if (part.type !== "tool-result" || short?.type !== "tool-result") continue;
      const said = textOf(part);
      const tokens = estimateText(said);
      this.#tokens += tokens;
      if (part !== short) this.#saved += tokens - estimateText(textOf(short));
      const given: Given = {
        reply,
        call: calls.get(part.callId),
        tokens,
        omitted: part === short ? undefined : findOmitted(said, textOf(short)),
        isAgain: false,
        isNeeded: false,
        isBehind: false,
      };
      this.#given.push(given);
      yield given;
    }
  }

  sum(): Omit<Judgement, "name"> {
    const short = this.#given.filter(({ omitted }) => omitted !== undefined);
    const whole = this.#given.filter(({ omitted, tokens }) => omitted === undefined && tokens >= 50);
    const share = (some: readonly Given[], is: (one: Given) => boolean) =>
      some.filter(is).length / Math.max(1, some.length);
    const lost = short.reduce((sum, { isNeeded, tokens }) => sum + (isNeeded ? tokens : 0), 0);
    return {
      saved: this.#saved / this.#tokens,
      shortened: short.length,
      needed: share(short, ({ isNeeded }) => isNeeded),
      behind: share(short, ({ isBehind }) => isBehind),
      againShort: share(short, ({ isAgain }) => isAgain),
      againWhole: share(whole, ({ isAgain }) => isAgain),
      net: (this.#saved - lost) / this.#tokens,
      slowest: this.#slowest,
    };
  }
}

/** Notes what a call says about a result that the agent was given before. */
function judgeCall(given: Given, call: ToolCallPart, shown: ShownTexts): void {
  if (given.call && isAgain(given.call, call)) given.isAgain = true;
  if (!given.omitted) return;
  const { lines, names } = given.omitted;
  for (const text of listReplacedTexts(call))
    for (const line of text.split("\n").map((line) => line.trim())) {
      if (!lines.has(line)) continue;
      if (shown.lines.has(line)) given.isBehind = true;
      else given.isNeeded = true;
    }
  if (names.size === 0) return;
  scanIdentifiers(JSON.stringify(call.input), false, (name) => {
    if (names.has(name) && !shown.names.has(name)) given.isNeeded = true;
  });
}

/** True for the same call, and for one that reads lines of a file that the first one has read. */
function isAgain(one: ToolCallPart, other: ToolCallPart): boolean {
  if (one.name === other.name && JSON.stringify(one.input) === JSON.stringify(other.input)) return true;
  const reads = findTouches(other).filter(({ kind }) => kind === "read");
  return findTouches(one).some(
    (touch) =>
      touch.kind === "read" &&
      touch.path !== undefined &&
      reads.some(({ path, range }) => path === touch.path && isCovering(touch.range, range)),
  );
}

/** The lines and names of a result that its shortened form does not show. */
function findOmitted(said: string, short: string): NonNullable<Given["omitted"]> {
  const shown = new ShownTexts();
  shown.addText(short);
  const all = new ShownTexts();
  all.addText(said);
  return { lines: without(all.lines, shown.lines), names: without(all.names, shown.names) };
}

function without(all: ReadonlySet<string>, some: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((one) => !some.has(one)));
}

/** The lines of texts without numbers and indentation, and the names in them. */
class ShownTexts {
  readonly lines = new Set<string>();
  readonly names = new Set<string>();

  add(message: Message): void {
    for (const part of message.parts) {
      if (part.type === "text") this.addText(part.text);
      else if (part.type === "tool-result") this.addText(textOf(part));
      else if (part.type === "tool-call") this.addText(listStrings(part.input).join("\n"));
    }
  }

  addText(text: string): void {
    for (const line of text.split("\n")) {
      const number = readLineNumber(line);
      const body = (number ? line.slice(number.mark + 1) : line.replace(/^→/, "")).trim();
      if (body.length >= MIN_CHARACTERS) this.lines.add(body).add(line.trim());
      // A search writes the path and the number of a line before it, and its shortened form only the number.
      const hit = /^(?:[^\s:]{1,300}[:-])?\d+[:-](.*)$/.exec(line)?.[1]?.trim();
      if (hit !== undefined && hit.length >= MIN_CHARACTERS) this.lines.add(hit);
    }
    scanIdentifiers(text, true, (name) => {
      if (name.length >= MIN_CHARACTERS) this.names.add(name);
    });
  }
}

function listStrings(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listStrings) : [];
}

function textOf({ output }: ToolResultPart): string {
  return output.map((content) => (content.type === "text" ? content.text : "")).join("\n");
}
