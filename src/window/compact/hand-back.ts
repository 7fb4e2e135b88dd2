import { isCommitCommand } from "../effects/commit.ts";
import { findTouches } from "../effects/find-touches.ts";
import { estimateText } from "../tokens/estimate.ts";
import { type Action, collectActions, collectRuns, normalizeCommand } from "./extractive/actions.ts";
import { buildMessageSections } from "./extractive/message-sections.ts";
import type { SourceMessage } from "./extractive/summary-candidate.ts";
import { collectTodos } from "./extractive/todo-list.ts";

/** Facts of a conversation that its next steps need, each as the lines of one section. */
interface HandBack {
  readonly todos: readonly string[];
  readonly files: readonly string[];
  readonly commands: readonly string[];
  readonly decisions: readonly string[];
}

/** Limits of a hand-back. */
interface HandBackOptions {
  /** The summary that the client continues with; facts that it has are left out. */
  readonly summary: string;
  readonly maxTokens: number;
  /** The folder of the project, which is left out of paths. */
  readonly folder?: string | undefined;
}

const MAX_TODOS = 12;
const TODO_SHARE = 0.3;
const DECISION_SHARE = 0.25;
const QUOTE_LIMITS = { request: 40, ask: 40, outcome: 40, sentence: 48 };
/** A longer command is a script, which is hardly run again word for word. */
const MAX_COMMAND_TOKENS = 60;
/** Calls after which a use counts for half as much. */
const HALF_LIFE = 60;
/** Share of a sentence's words that a summary must have to contain it. */
const CONTAINED = 0.6;
const LINE_TOKENS = 3;

/** A fact with its value for the next steps. */
interface Candidate {
  readonly text: string;
  readonly value: number;
  readonly tokens: number;
}

/**
 * Chooses what the next steps of a compacted conversation need and its summary lacks: open to-dos, files in use, exact
 * commands and decisions, within a limit. Facts that were used often and lately come first.
 */
export function chooseHandBack(messages: readonly SourceMessage[], options: HandBackOptions): HandBack {
  const { summary, maxTokens, folder } = options;
  const known = collapse(summary);
  const actions = collectActions(messages);
  const todos = takeWithin(
    collectTodos(messages, actions)
      .filter(({ state, text }) => state !== "done" && !isContained(text, known))
      .slice(0, MAX_TODOS)
      .map(({ text, state, cite }) =>
        toCandidate(`${state === "doing" ? "[>]" : "[ ]"} ${text} (${cite})`, 1),
      ),
    maxTokens * TODO_SHARE,
  );
  const decisions = takeWithin(
    buildMessageSections(messages, QUOTE_LIMITS)
      .decisions.filter(({ item }) => !isContained(item.text, known))
      .map(({ item, rank }) => toCandidate(`${item.cite ?? ""} ${item.text}`.trim(), -rank))
      .sort((one, other) => other.value - one.value),
    maxTokens * DECISION_SHARE,
  );
  const used = countTokens(todos) + countTokens(decisions);
  const items = [...rankFiles(actions, known, folder), ...rankCommands(actions, known)].sort(
    (one, other) => other.value - one.value,
  );
  const chosen = takeWithin(items, maxTokens - used);
  const ofKind = (kind: RankedItem["kind"]) =>
    chosen.filter((item) => item.kind === kind).map(({ text }) => text);
  return {
    todos: todos.map(({ text }) => text),
    files: groupByFolder(ofKind("file")),
    commands: ofKind("command"),
    decisions: decisions.map(({ text }) => text),
  };
}

interface RankedItem extends Candidate {
  readonly kind: "file" | "command";
}

function rankFiles(
  actions: readonly Action[],
  known: string,
  folder: string | undefined,
): readonly RankedItem[] {
  const values = new Map<string, number>();
  for (const [index, { call }] of actions.entries())
    for (const { kind, path } of findTouches(call)) {
      if (path === undefined || kind === "run") continue;
      const weight = kind === "read" ? 1 : 2;
      values.set(path, (values.get(path) ?? 0) + weight * fade(actions.length - index));
    }
  return [...values]
    .filter(([path]) => !known.includes(path.slice(path.lastIndexOf("/") + 1)))
    .map(([path, value]) => {
      const text =
        folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
      // Files of one folder share its name.
      const tokens = estimateText(text.slice(text.lastIndexOf("/") + 1)) + LINE_TOKENS;
      return { kind: "file", text, value: value / Math.sqrt(tokens), tokens };
    });
}

function rankCommands(actions: readonly Action[], known: string): readonly RankedItem[] {
  const places = new Map(actions.map((action, index) => [action, index]));
  const values = new Map<string, { value: number; state: string }>();
  for (const { action, name, isCommand, outcome } of collectRuns(actions)) {
    const key = normalizeCommand(name);
    if (!isCommand || key === "" || key.includes("\n") || isCommitCommand(key)) continue;
    const before = values.get(key)?.value ?? 0;
    const age = actions.length - (places.get(action) ?? 0);
    values.set(key, { value: before + 2 * fade(age), state: outcome.kind === "failed" ? " (failed)" : "" });
  }
  return [...values]
    .filter(([key]) => !known.includes(collapse(key)))
    .map(([key, { value, state }]): RankedItem => {
      const text = `\`${key}\`${state}`;
      const tokens = estimateText(text) + LINE_TOKENS;
      return { kind: "command", text, value: value / Math.sqrt(tokens), tokens };
    })
    .filter(({ tokens }) => tokens <= MAX_COMMAND_TOKENS);
}

/** Weight of a use by its age in calls; old uses keep a little. */
function fade(age: number): number {
  return 0.1 + 0.9 * 2 ** (-age / HALF_LIFE);
}

/** The names of files by folder, one line each. */
function groupByFolder(paths: readonly string[]): readonly string[] {
  const groups = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  return [...groups].map(
    ([folder, own]) =>
      `${folder}${own.length === 1 ? "" : " "}${own.map((path) => path.slice(folder.length)).join(", ")}`,
  );
}

function toCandidate(text: string, value: number): Candidate {
  return { text, value, tokens: estimateText(text) + LINE_TOKENS };
}

/** The first candidates that fit; one that does not fit leaves room for later ones. */
function takeWithin<Item extends Candidate>(items: readonly Item[], maxTokens: number): readonly Item[] {
  let left = maxTokens;
  return items.filter(({ tokens }) => {
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

function countTokens(items: readonly Candidate[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** True if a text has nearly all words of a sentence. */
function isContained(sentence: string, text: string): boolean {
  const words = listWords(sentence);
  const present = new Set(listWords(text));
  return words.length === 0 || words.filter((word) => present.has(word)).length >= CONTAINED * words.length;
}

function listWords(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [])];
}
