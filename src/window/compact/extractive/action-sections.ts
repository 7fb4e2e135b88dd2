import { findTouches } from "../../effects/find-touches.ts";
import {
  type Action,
  type ActionRun,
  collectActions,
  collectFileStates,
  collectRuns,
  describeFile,
  type FileState,
} from "./actions.ts";
import {
  citeOf,
  clipLine,
  type SourceMessage,
  type SummaryCandidate,
  toInlineCode,
} from "./summary-candidate.ts";
import { collectTodos, type Todo } from "./todo-list.ts";

/** Sections about actions: files, commands, to-dos. */
export interface ActionSections {
  readonly files: readonly SummaryCandidate[];
  readonly problems: readonly SummaryCandidate[];
  readonly todos: readonly SummaryCandidate[];
  readonly concepts: readonly SummaryCandidate[];
  /** The structured data of the sections, for merging. */
  readonly states: readonly FileState[];
  readonly runs: readonly ActionRun[];
}

/** Maximum tokens of a displayed command. */
export const COMMAND_TOKENS = 40;
const PATH_TOKENS = 80;
const EVIDENCE_TOKENS = 60;
const TODO_TOKENS = 40;
const MAX_NAMES = 10;

const LANGUAGES = new Map(
  `TypeScript: ts tsx mts; JavaScript: js jsx mjs; Python: py; Go: go; Rust: rs; Java: java; Kotlin: kt;
   C#: cs; Ruby: rb; C: c h; C++: cpp cc hpp; PHP: php; Swift: swift; Scala: scala; Lua: lua; SQL: sql;
   shell: sh bash; YAML: yml yaml; TOML: toml; JSON: json; Markdown: md; Terraform: tf; CSS: css scss;
   HTML: html; Vue: vue; Svelte: svelte; Protobuf: proto`
    .split(/;\s*/)
    .map((line) => line.split(": ") as [string, string])
    .flatMap(([language, endings]) => endings.split(" ").map((ending) => [ending, language] as const)),
);

/** Builds the sections about actions from a conversation. */
export function buildActionSections(messages: readonly SourceMessage[]): ActionSections {
  const actions = collectActions(messages);
  const states = collectFileStates(actions);
  const runs = collectRuns(actions);
  return {
    files: states.map(toFileCandidate),
    problems: runs.flatMap((run, index) => toRunCandidates(run, runs.length - index)),
    todos: collectTodos(messages, actions).map(toTodoCandidate),
    concepts: buildConcepts(states, actions),
    states,
    runs,
  };
}

/** A file as a candidate; changed files rank before those that were only read. */
export function toFileCandidate(
  state: FileState,
  index: number,
  all: readonly FileState[],
): SummaryCandidate {
  const age = all.length - index;
  const text = clipLine(describeFile(state), PATH_TOKENS);
  return { item: { cite: citeOf(state.lastSource), text }, rank: state.changes > 0 ? age : age * 2 + 8 };
}

/** Describes a run, beginning with its name. */
function describeRun({ name: what, isCommand, outcome, cure, action }: ActionRun): string {
  const name = isCommand ? toInlineCode(what, COMMAND_TOKENS) : clipLine(what, COMMAND_TOKENS);
  const exit = outcome.exitCode === undefined ? "" : ` (exit ${outcome.exitCode})`;
  if (outcome.kind === "fine") return `${name} passed${exit}`;
  if (outcome.kind === "refused") return `${name} was refused by the user`;
  if (outcome.kind === "unknown") return `${name} has no result${action.result ? "" : " yet"}`;
  const later = cure
    ? `cured: passed at ${citeOf(cure.action.result?.told ?? cure.action.source)}`
    : "not cured";
  return `${name} failed${exit}, ${later}`;
}

function toRunCandidates(run: ActionRun, age: number): readonly SummaryCandidate[] {
  const { outcome, action } = run;
  // Only the last run of a command counts, unless an earlier one failed and a later one fixed it.
  if (run.isRepeated && !(outcome.kind === "failed" && run.cure)) return [];
  const cite = citeOf(action.result?.told ?? action.source);
  const isOpen = outcome.kind === "failed" && !run.cure;
  const rank = (isOpen ? 0 : outcome.kind === "fine" ? 12 : 6) + Math.log2(1 + age) * (isOpen ? 1 : 3);
  const item = { cite, text: describeRun(run) };
  if (!isOpen || outcome.evidence === undefined) return [{ item, rank }];
  const label = clipLine(action.call.name, 12);
  const evidence = clipLine(outcome.evidence, EVIDENCE_TOKENS);
  return [
    { item, rank },
    { item: { cite, label, text: evidence, isQuoted: true }, rank: rank + 1 },
  ];
}

function toTodoCandidate({ text, state, cite }: Todo, index: number): SummaryCandidate {
  const box = state === "done" ? "[x]" : state === "doing" ? "[~]" : "[ ]";
  const item = { cite, text: `${box} ${clipLine(text, TODO_TOKENS)}` };
  return { item, rank: index / 100 + (state === "done" ? 2 : state === "doing" ? 0 : 1) };
}

/** Languages of the touched files, and programs of the commands. */
function buildConcepts(
  states: readonly FileState[],
  actions: readonly Action[],
): readonly SummaryCandidate[] {
  const languages = states.flatMap(({ path }) => {
    const ending = /\.(\w{1,6})$/.exec(path)?.[1]?.toLowerCase() ?? "";
    return LANGUAGES.get(ending) ?? [];
  });
  const programs = actions.flatMap(({ call }) =>
    findTouches(call).flatMap(({ kind, command }) => (kind === "run" ? findPrograms(command ?? "") : [])),
  );
  return [
    ...buildCountedItem("Languages", languages).map((item) => ({ item, rank: 0 })),
    ...buildCountedItem("Programs run", programs).map((item) => ({ item, rank: 1 })),
  ];
}

const COMMON_PROGRAMS = new Set([
  "cd",
  "ls",
  "cat",
  "echo",
  "head",
  "tail",
  "grep",
  "sed",
  "find",
  "wc",
  "pwd",
  "true",
  "for",
  "if",
]);

function findPrograms(command: string): readonly string[] {
  const [line = ""] = command.slice(0, 400).split(/\n|<<|"|'/);
  return line
    .split(/&&|\|\||[|;]/)
    .flatMap((piece) => /^\s*(?:\w+=\S*\s+)*([a-z][\w.-]{1,30})(?=\s|$)/.exec(piece)?.[1] ?? [])
    .filter((program) => !COMMON_PROGRAMS.has(program));
}

function buildCountedItem(label: string, names: readonly string[]): readonly { readonly text: string }[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].sort((one, other) => other[1] - one[1]).slice(0, MAX_NAMES);
  return most.length === 0 ? [] : [{ text: `${label}: ${most.map(([name]) => name).join(", ")}` }];
}
