import { touchesOf } from "../../window/touch/touch-of.ts";
import { type Action, actionsOf } from "./actions.ts";
import type { Candidate } from "./candidate.ts";
import { type FileState, filesOf, wordsOfFile } from "./files.ts";
import { clipLine, codeOf } from "./quote.ts";
import { type Run, runsOf } from "./runs.ts";
import { type Todo, todosOf } from "./todo-list.ts";
import { citeOf, type Told } from "./told.ts";

/** Sections about actions: files, commands, to-dos. */
export interface DoneSections {
  readonly files: readonly Candidate[];
  readonly problems: readonly Candidate[];
  readonly todos: readonly Candidate[];
  readonly concepts: readonly Candidate[];
  /** The structured data of the sections, for merging. */
  readonly states: readonly FileState[];
  readonly runs: readonly Run[];
}

/** Maximum tokens of a displayed command. */
export const COMMAND_TOKENS = 40;
const PATH_TOKENS = 80;
const EVIDENCE_TOKENS = 60;
const TODO_TOKENS = 40;
const MAX_NAMES = 10;

const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ ts: "TypeScript", tsx: "TypeScript", mts: "TypeScript", js: "JavaScript", jsx: "JavaScript" },
  ...{
    mjs: "JavaScript",
    py: "Python",
    go: "Go",
    rs: "Rust",
    java: "Java",
    kt: "Kotlin",
    cs: "C#",
    rb: "Ruby",
  },
  ...{
    c: "C",
    h: "C",
    cpp: "C++",
    cc: "C++",
    hpp: "C++",
    php: "PHP",
    swift: "Swift",
    scala: "Scala",
    lua: "Lua",
  },
  ...{
    sql: "SQL",
    sh: "shell",
    bash: "shell",
    yml: "YAML",
    yaml: "YAML",
    toml: "TOML",
    json: "JSON",
    md: "Markdown",
  },
  ...{
    tf: "Terraform",
    css: "CSS",
    scss: "CSS",
    html: "HTML",
    vue: "Vue",
    svelte: "Svelte",
    proto: "Protobuf",
  },
};

/** Builds the sections about actions from a conversation. */
export function doneSections(messages: readonly Told[]): DoneSections {
  const actions = actionsOf(messages);
  const states = filesOf(actions);
  const runs = runsOf(actions);
  return {
    files: states.map(candidateOfFile),
    problems: runs.flatMap((run, index) => candidatesOfRun(run, runs.length - index)),
    todos: todosOf(messages, actions).map(candidateOfTodo),
    concepts: conceptsOf(states, actions),
    states,
    runs,
  };
}

/** A file as a candidate; changed files rank before those that were only read. */
export function candidateOfFile(state: FileState, index: number, all: readonly FileState[]): Candidate {
  const age = all.length - index;
  const text = clipLine(wordsOfFile(state), PATH_TOKENS);
  return { item: { cite: citeOf(state.last), text }, rank: state.changes > 0 ? age : age * 2 + 8 };
}

/** Describes a run, beginning with its name. */
export function wordsOfRun({ what, isCommand, outcome, cure, action }: Run): string {
  const name = isCommand ? codeOf(what, COMMAND_TOKENS) : clipLine(what, COMMAND_TOKENS);
  const exit = outcome.exitCode === undefined ? "" : ` (exit ${outcome.exitCode})`;
  if (outcome.kind === "fine") return `${name} passed${exit}`;
  if (outcome.kind === "refused") return `${name} was refused by the user`;
  if (outcome.kind === "unknown") return `${name} has no result${action.result ? "" : " yet"}`;
  const later = cure
    ? `cured: passed at ${citeOf(cure.action.result?.told ?? cure.action.told)}`
    : "not cured";
  return `${name} failed${exit}, ${later}`;
}

function candidatesOfRun(run: Run, age: number): readonly Candidate[] {
  const { outcome, action } = run;
  // Only the last run of a command counts, unless an earlier one failed and a later one fixed it.
  if (run.isRepeated && !(outcome.kind === "failed" && run.cure)) return [];
  const cite = citeOf(action.result?.told ?? action.told);
  const isOpen = outcome.kind === "failed" && !run.cure;
  const rank = (isOpen ? 0 : outcome.kind === "fine" ? 12 : 6) + Math.log2(1 + age) * (isOpen ? 1 : 3);
  const item = { cite, text: wordsOfRun(run) };
  if (!isOpen || outcome.evidence === undefined) return [{ item, rank }];
  const label = clipLine(action.call.name, 12);
  const evidence = clipLine(outcome.evidence, EVIDENCE_TOKENS);
  return [
    { item, rank },
    { item: { cite, label, text: evidence, isQuoted: true }, rank: rank + 1 },
  ];
}

function candidateOfTodo({ text, state, cite }: Todo, index: number): Candidate {
  const box = state === "done" ? "[x]" : state === "doing" ? "[~]" : "[ ]";
  const item = { cite, text: `${box} ${clipLine(text, TODO_TOKENS)}` };
  return { item, rank: index / 100 + (state === "done" ? 2 : state === "doing" ? 0 : 1) };
}

/** Languages of the touched files, and programs of the commands. */
function conceptsOf(states: readonly FileState[], actions: readonly Action[]): readonly Candidate[] {
  const languages = states.flatMap(({ path }) => {
    const ending = /\.(\w{1,6})$/.exec(path)?.[1]?.toLowerCase() ?? "";
    return Object.hasOwn(LANGUAGES, ending) ? [LANGUAGES[ending] as string] : [];
  });
  const programs = actions.flatMap(({ call }) =>
    touchesOf(call).flatMap(({ kind, command }) => (kind === "run" ? programsIn(command ?? "") : [])),
  );
  return [
    ...counted("Languages", languages).map((item) => ({ item, rank: 0 })),
    ...counted("Programs run", programs).map((item) => ({ item, rank: 1 })),
  ];
}

const COMMON = new Set([
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

function programsIn(command: string): readonly string[] {
  const [line = ""] = command.slice(0, 400).split(/\n|<<|"|'/);
  return line
    .split(/&&|\|\||[|;]/)
    .flatMap((piece) => /^\s*(?:\w+=\S*\s+)*([a-z][\w.-]{1,30})(?=\s|$)/.exec(piece)?.[1] ?? [])
    .filter((program) => !COMMON.has(program));
}

function counted(label: string, names: readonly string[]): readonly { readonly text: string }[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].sort((one, other) => other[1] - one[1]).slice(0, MAX_NAMES);
  return most.length === 0 ? [] : [{ text: `${label}: ${most.map(([name]) => name).join(", ")}` }];
}
