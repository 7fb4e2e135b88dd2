import { BoundedMap } from "../../../model/base/caches.ts";
import type { ToolCallPart, ToolResultPart } from "../../../model/part.ts";
import { listProgramCalls } from "../../../model/tool-calls.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { getPathArgument, parseToolArguments } from "../../effects/call-arguments.ts";
import { findTouches } from "../../effects/find-touches.ts";
import { isRefusedEdit, listChanges } from "../../effects/list-changes.ts";
import { normalizePath } from "../../effects/normalize-path.ts";
import type { Slot } from "../../slot.ts";
import type { ExtractLine } from "./extract-notes.ts";

/** Some lines of a file as a message showed them. */
interface FileStretch {
  readonly text: string;
  readonly shown: ShownText;
  /** Index of its first line in the text that was shown. */
  readonly from: number;
  readonly features: StretchFeatures;
}

/** A text of one file that a result or a call has shown. */
interface ShownText {
  readonly seq: number;
  readonly cite: string;
  /** Tool and file. */
  readonly heading: string;
  readonly path: string;
  readonly kind: StretchFeatures["kind"];
  /** Number of replies before it. */
  readonly reply: number;
  /** Its lines without line numbers; a line that an edit has replaced since is undefined. */
  readonly lines: (string | undefined)[];
  readonly characters: number;
  /** Number of its first line in the file; undefined if unknown. */
  readonly firstLine: number | undefined;
  /** Places of the stretches that were edited since. */
  readonly edited: Set<number>;
}

interface OpenCall {
  readonly call: ToolCallPart;
  readonly at: Slot;
  /** False for a call of the provider's program, whose result the model does not see. */
  readonly isSeen: boolean;
}

interface FileState {
  edits: number;
  touchedAt: number;
  namedAt: number;
}

/** Limits for the stretches that stay. */
interface StretchLimits {
  readonly maxTokens: number;
  /** Price of a token until the next rebuild: it is written once and read with each call. */
  readonly tokenPrice: number;
  readonly isGone: (seq: number) => boolean;
}

/**
 * Cost of an edit whose text has left, in input tokens. The call that reads the file again costs a tenth
 * of that; the rest is the price of an agent that edits from memory and fails.
 */
const ABSENCE_COST = 100_000;
const STRETCH_LINES = 24;
/** Shorter texts are seen in the reply that wrote them. */
const MIN_CHARACTERS = 40;
const MAX_NAMED_CHARACTERS = 20_000;
/** Characters of all texts that are remembered; the oldest leave first. */
const MAX_CHARACTERS = 800_000;
const MAX_LINES = 5_000;
const MAX_FILES = 2_000;
const MAX_WORDS = 50_000;
const MAX_OPEN_CALLS = 200;
/** Files whose paths are considered for the list of an extract. */
const MAX_PATHS = 200;
/** Files of one name, such as index.ts, that a text can name. */
const MAX_NAMESAKES = 50;
/** Stands in a stretch for lines that an edit has replaced since: the new ones follow where the edit is quoted. */
const EDITED_MARK = "[… edited since]";
const LINE_NUMBER = /^\s*(\d+)[→\t]/;
const WORD = /[A-Za-z_][A-Za-z0-9_]{4,}/g;
const FILE_NAME = /[\w-][\w.-]*\.\w+/g;
const RECENT_REPLIES = 10;
const JUST_REPLIES = 3;
/** A stretch is left out if so much of it stands in a newer one. */
const MAX_KNOWN_SHARE = 0.7;

/**
 * The stretches of files that a conversation has shown, with the facts that decide which of them leave first. The text
 * of the next edit was mostly read some time ago; without it, the edit fails or the file is read again.
 */
export class FileStretches {
  readonly #tokensOf: TokenEstimator;
  readonly #unread: Slot[] = [];
  #texts: ShownText[] = [];
  #characters = 0;
  readonly #files = new BoundedMap<string, FileState>({ max: MAX_FILES });
  readonly #pathsByName = new BoundedMap<string, Set<string>>({ max: MAX_FILES });
  /** Calls without a result, with their places. */
  readonly #openCalls = new BoundedMap<string, OpenCall>({ max: MAX_OPEN_CALLS });
  /** The reply that last named each word. */
  readonly #words = new BoundedMap<string, number>({ max: MAX_WORDS });
  /** Texts of which the last extract shows stretches. */
  #kept: ReadonlySet<ShownText> = new Set();
  #replies = 0;
  #turn = 0;

  constructor(tokensOf: TokenEstimator) {
    this.#tokensOf = tokensOf;
  }

  /** Adds the next message, which is read only when stretches are asked for. */
  observe(slot: Slot): void {
    if (!slot.isNote) this.#unread.push(slot);
  }

  /** The stretches that are worth their price, best value per token first, up to `maxTokens`, as lines of an extract. */
  choose({ maxTokens, tokenPrice, isGone }: StretchLimits): readonly ExtractLine[] {
    if (maxTokens <= 0) return [];
    let left = maxTokens;
    const chosen: FileStretch[] = [];
    for (const { stretch, tokens, chance } of this.#rank(isGone)) {
      if (tokens > left || chance * ABSENCE_COST < tokens * tokenPrice) continue;
      left -= tokens;
      chosen.push(stretch);
    }
    this.#kept = new Set(chosen.map(({ shown }) => shown));
    return joinStretches(chosen);
  }

  /** Paths of the files that were touched last, newest first, of those that `isNamed` does not know. */
  listPaths(isNamed: (path: string) => boolean, maxTokens: number): readonly string[] {
    this.#readAll();
    let left = maxTokens;
    const byTouch = [...this.#files].sort(([, one], [, other]) => other.touchedAt - one.touchedAt);
    return byTouch.slice(0, MAX_PATHS).flatMap(([path]) => {
      if (isNamed(path)) return [];
      left -= this.#countTokens(path);
      return left < 0 ? [] : [path];
    });
  }

  /** The cost, in input tokens, if all stretches in the window leave but the best that fit into `maxTokens`. */
  estimateLoss(maxTokens: number, isShown: (seq: number) => boolean): number {
    let left = maxTokens;
    let loss = 0;
    for (const { stretch, tokens, chance } of this.#rank(() => true)) {
      if (!isShown(stretch.shown.seq) && !this.#kept.has(stretch.shown)) continue;
      if (tokens <= left) left -= tokens;
      else loss += chance * ABSENCE_COST;
    }
    return loss;
  }

  /** The stretches of messages that are gone, newest first; lines that a newer message shows are not listed again. */
  list(isGone: (seq: number) => boolean): readonly FileStretch[] {
    this.#readAll();
    const known = new Set<string>();
    const rewritten = new Set<string>();
    return this.#texts.toReversed().flatMap((shown): readonly FileStretch[] => {
      if (rewritten.has(shown.path)) return [];
      if (shown.kind === "write") rewritten.add(shown.path);
      const stretches: FileStretch[] = [];
      for (let from = 0; from < shown.lines.length; from += STRETCH_LINES) {
        const all = shown.lines.slice(from, from + STRETCH_LINES);
        const lines = all.filter((line) => line !== undefined);
        const keys = lines.map((line) => `${shown.path}\n${line.trim()}`);
        const fresh = keys.filter((key) => !known.has(key)).length;
        for (const key of keys) known.add(key);
        if (!isGone(shown.seq) || fresh < keys.length * (1 - MAX_KNOWN_SHARE)) continue;
        if (lines.join("\n").trim().length < MIN_CHARACTERS) continue;
        const text = joinLines(all);
        stretches.push({ text, shown, from, features: this.#describe(shown, from / STRETCH_LINES, text) });
      }
      return stretches;
    });
  }

  #rank(isGone: (seq: number) => boolean) {
    return this.list(isGone)
      .map((stretch) => {
        const chance = estimateEditChance(stretch.features);
        return { stretch, tokens: this.#countTokens(stretch.text), chance };
      })
      .sort((one, other) => other.chance / other.tokens - one.chance / one.tokens);
  }

  #countTokens(text: string): number {
    return this.#tokensOf({ role: "user", parts: [{ type: "text", text }] });
  }

  #describe({ path, kind, reply, lines, edited }: ShownText, place: number, text: string): StretchFeatures {
    const file = this.#findFile(path);
    const words = new Set(text.match(WORD));
    let named = 0;
    let recent = 0;
    for (const word of words) {
      const at = this.#words.get(word) ?? -1;
      if (at > reply) named++;
      if (at > Math.max(reply, this.#replies - RECENT_REPLIES)) recent++;
    }
    return {
      kind,
      age: this.#replies - reply,
      edits: file.edits,
      lines: lines.length,
      isTest: /test|spec/i.test(path),
      isProse: /\.(?:md|mdx|txt|rst|json|lock)$/i.test(path),
      distance: edited.size === 0 ? undefined : Math.min(...[...edited].map((at) => Math.abs(at - place))),
      namedShare: named / Math.max(1, words.size),
      recentWords: recent,
      isNamed: file.namedAt > reply,
      isInTurn: reply >= this.#turn,
      isJustTouched: this.#replies - file.touchedAt < JUST_REPLIES,
    };
  }

  #readAll(): void {
    for (const slot of this.#unread) this.#read(slot);
    this.#unread.length = 0;
    let first = 0;
    while (this.#characters > MAX_CHARACTERS && first < this.#texts.length)
      this.#characters -= (this.#texts[first++] as ShownText).characters;
    if (first > 0) this.#texts = this.#texts.slice(first);
  }

  #read(slot: Slot): void {
    const { message } = slot;
    if (message.role === "assistant") this.#replies++;
    const program = listProgramCalls(message);
    for (const part of message.parts) {
      if (part.type === "text" && message.role !== "tool") {
        if (message.role === "user") this.#turn = this.#replies;
        this.#name(part.text);
      }
      if (part.type === "tool-call")
        this.#readCall({ call: part, at: slot, isSeen: !program.includes(part.callId) });
      if (part.type === "tool-result") this.#readResult(part, slot);
    }
  }

  #readCall(open: OpenCall): void {
    const { call } = open;
    this.#openCalls.set(call.callId, open);
    this.#name(JSON.stringify(call.input) ?? "");
    const path = getPathArgument(parseToolArguments(call.input) ?? {});
    if (path !== undefined) this.#findFile(normalizePath(path)).touchedAt = this.#replies;
  }

  /** A call that failed has changed and shown nothing. */
  #readResult(result: ToolResultPart, slot: Slot): void {
    const { call, at, isSeen } = this.#openCalls.get(result.callId) ?? {};
    this.#openCalls.delete(result.callId);
    if (!call || !at || result.isError) return;
    for (const { path, before, after, isWhole } of isRefusedEdit(result) ? [] : listChanges(call)) {
      if (path === undefined) continue;
      const file = this.#findFile(path);
      file.edits++;
      file.touchedAt = this.#replies;
      for (const shown of this.#texts) if (shown.path === path && before !== "") markReplaced(shown, before);
      this.#add(after, at, { tool: call.name, path, kind: isWhole ? "write" : "edit" });
    }
    const touch = findTouches(call).find(({ kind, path }) => kind === "read" && path !== undefined);
    if (touch?.path === undefined || !isSeen) return;
    const { path, range } = touch;
    this.#findFile(path).touchedAt = this.#replies;
    const text = result.output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const firstLine = range && range.from > 0 ? range.from : 1;
    this.#add(text, slot, { tool: call.name, path, kind: "read", firstLine });
  }

  #add(
    text: string,
    { seq, cite = `#${seq}` }: Slot,
    { tool, firstLine, ...shown }: Pick<ShownText, "path" | "kind"> & { tool: string; firstLine?: number },
  ): void {
    if (text.length < MIN_CHARACTERS) return;
    const lines = text.split("\n", MAX_LINES);
    const number = LINE_NUMBER.exec(lines[0] as string)?.[1];
    this.#characters += text.length;
    this.#texts.push({
      ...shown,
      seq,
      cite,
      heading: `${tool} ${shown.path}`,
      firstLine: number === undefined ? firstLine : Number(number),
      lines: number === undefined ? lines : lines.map((line) => line.replace(LINE_NUMBER, "")),
      characters: text.length,
      reply: this.#replies,
      edited: new Set(),
    });
  }

  #findFile(path: string): FileState {
    const known = this.#files.get(path);
    if (known) return known;
    const file = { edits: 0, touchedAt: this.#replies, namedAt: -1 };
    this.#files.set(path, file);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const namesakes = this.#pathsByName.get(name) ?? new Set();
    if (namesakes.size < MAX_NAMESAKES) this.#pathsByName.set(name, namesakes.add(path));
    return file;
  }

  /** Records the words and the files that a text names. */
  #name(text: string): void {
    const head = text.slice(0, MAX_NAMED_CHARACTERS);
    for (const word of head.match(WORD) ?? []) this.#words.set(word, this.#replies);
    for (const name of new Set(head.match(FILE_NAME)))
      for (const path of this.#pathsByName.get(name) ?? []) {
        const file = this.#files.get(path);
        if (file) file.namedAt = this.#replies;
      }
  }
}

/** Takes lines out of a shown text that an edit has replaced since, wholly or in part; the edit shows the new ones. */
function markReplaced({ lines, edited }: ShownText, before: string): void {
  const old = before.replace(/\n$/, "").split("\n", MAX_LINES);
  const last = old.length - 1;
  const isSame = (line: string | undefined, text: string, index: number) => {
    if (line === undefined) return false;
    if (last === 0) return line.includes(text);
    if (index === 0) return line.endsWith(text);
    return index === last ? line.startsWith(text) : line === text;
  };
  for (let from = 0; from + last < lines.length; from++) {
    if (!old.every((text, index) => isSame(lines[from + index], text, index))) continue;
    lines.fill(undefined, from, from + old.length);
    edited.add(Math.floor(from / STRETCH_LINES));
  }
}

/** The lines of a stretch, with a mark where some were replaced. */
function joinLines(lines: readonly (string | undefined)[]): string {
  const shown = lines.map((line) => line ?? EDITED_MARK);
  return `${shown.filter((line, index) => line !== EDITED_MARK || shown[index - 1] !== line).join("\n")}\n`;
}

/** Joins stretches that follow each other and names their lines. */
function joinStretches(stretches: readonly FileStretch[]): readonly ExtractLine[] {
  const sorted = stretches.toSorted((one, other) => one.shown.seq - other.shown.seq || one.from - other.from);
  const joined: { shown: ShownText; from: number; to: number; text: string }[] = [];
  for (const { shown, from, text } of sorted) {
    const last = joined.at(-1);
    const to = Math.min(shown.lines.length, from + STRETCH_LINES);
    if (last?.shown === shown && last.to === from) Object.assign(last, { to, text: last.text + text });
    else joined.push({ shown, from, to, text });
  }
  return joined.map(({ shown, from, to, text }): ExtractLine => {
    const { seq, cite, heading, firstLine, lines } = shown;
    const isAll = from === 0 && to === lines.length && firstLine === 1;
    const range = firstLine === undefined || isAll ? "" : `, lines ${firstLine + from}–${firstLine + to - 1}`;
    return { text, source: { seq, cite, heading: `${heading}${range}` }, order: from };
  });
}

/** Facts about a stretch of a file when content has to leave the window. */
interface StretchFeatures {
  /** Where it stands: in the output of a read, in a written file, or in the new text of an edit. */
  readonly kind: "read" | "write" | "edit";
  /** Replies since it was shown. */
  readonly age: number;
  /** Number of edits of its file. */
  readonly edits: number;
  /** Lines of the text that it is a part of. */
  readonly lines: number;
  readonly isTest: boolean;
  /** True for prose and data, which are edited far less often than code. */
  readonly isProse: boolean;
  /** Stretches between it and the nearest one that was edited since; undefined if none was. */
  readonly distance: number | undefined;
  /** Share of its words that were named since it was shown, and number of those named within the last replies. */
  readonly namedShare: number;
  readonly recentWords: number;
  /** True if its file was named since it was shown. */
  readonly isNamed: boolean;
  /** True if it was shown since the newest message of a person. */
  readonly isInTurn: boolean;
  /** True if one of the last replies has read or edited its file. */
  readonly isJustTouched: boolean;
}

/** Weights of a logistic regression over coding sessions; `node training/stretches/fit.ts` makes them. */
const WEIGHTS = {
  base: -2.93,
  isWrite: 0.32,
  isEdit: 0.31,
  age: -0.44,
  isEdited: 0.83,
  edits: 0.17,
  lines: 0.13,
  isTest: -0.16,
  isProse: -1.41,
  hasDistance: -0.39,
  distance: -0.01,
  namedShare: 0.42,
  recentWords: 0.22,
  isNamed: 0.36,
  isInTurn: -0.28,
  isUneditedInTurn: 0.86,
  isJustTouched: 0.69,
};

/** The names of the weights, in the order of `listTerms`. */
export const TERMS = Object.keys(WEIGHTS);
const FACTORS = Object.values(WEIGHTS);

/** The terms whose weighted sum gives the chance. */
export function listTerms(features: StretchFeatures): readonly number[] {
  const { kind, age, edits, lines, distance, isInTurn } = features;
  return [
    1,
    Number(kind === "write"),
    Number(kind === "edit"),
    log2(age),
    Number(edits > 0),
    log2(edits),
    log2(lines / 24),
    Number(features.isTest),
    Number(features.isProse),
    Number(distance !== undefined),
    distance === undefined ? 0 : log2(Math.min(8, distance)),
    features.namedShare,
    log2(features.recentWords),
    Number(features.isNamed),
    Number(isInTurn),
    Number(isInTurn && edits === 0),
    Number(features.isJustTouched),
  ];
}

/** The chance that one of the next 30 replies edits a stretch. */
function estimateEditChance(features: StretchFeatures): number {
  const sum = listTerms(features).reduce(
    (total, term, index) => total + term * (FACTORS[index] as number),
    0,
  );
  return 1 / (1 + Math.exp(-sum));
}

function log2(count: number): number {
  return Math.log2(1 + count);
}
