import type { SummaryItem, SummarySections } from "../contract/summary.ts";
import { type Candidate, type Candidates, withoutRepeats } from "./candidate.ts";
import { isQuestion } from "./cues.ts";
import type { DoneSections } from "./done-sections.ts";
import { COMMAND_TOKENS, candidateOfFile } from "./done-sections.ts";
import type { FileState } from "./files.ts";
import { clipLine } from "./quote.ts";
import { plainCommand } from "./runs.ts";
import { sentencesOf } from "./sentences.ts";

/** Activity since an earlier summary, which determines the items that remain valid. */
export interface Since {
  readonly done: DoneSections;
  /** The last reply without a call, if there was one. */
  readonly reply: string | undefined;
}

const OLD = 30;
const CARRIED_TOKENS = 160;

/** Merges the sections of an earlier summary with new ones: superseded items are dropped, the others carried over. */
export function carryOver(earlier: SummarySections, fresh: Candidates, since: Since): Candidates {
  const kept = (items: readonly SummaryItem[], rank: number) =>
    items.filter(isPlain).map((item) => carried(item, rank));
  const files = filesTogether(earlier.files, since.done.states);
  const settled = since.reply !== undefined && !isQuestion(sentencesOf(since.reply).at(-1) ?? "");
  const asks = settled ? [] : kept(earlier.asks, 20);
  const orElse = (later: readonly Candidate[], items: readonly SummaryItem[]) =>
    later.length > 0 ? later : kept(items, 0);
  return {
    previous: withoutRepeats([...requestsBefore(earlier.previous, fresh.previous.length), ...fresh.previous]),
    current: orElse(fresh.current, earlier.current),
    concepts: conceptsTogether(earlier.concepts, fresh.concepts),
    files,
    problems: [...kept(stillOpen(earlier.problems, since.done), 14), ...fresh.problems],
    decisions: withoutRepeats([...kept(earlier.decisions, 4), ...fresh.decisions]),
    constraints: withoutRepeats([...kept(earlier.constraints, 4), ...fresh.constraints]),
    questions: withoutRepeats([...(settled ? [] : kept(earlier.questions, OLD)), ...fresh.questions]),
    todos: orElse(fresh.todos, earlier.todos),
    asks: withoutRepeats([...asks, ...fresh.asks]),
    pending: orElse(fresh.pending, earlier.pending),
    identifiers: fresh.identifiers,
  };
}

function isPlain({ isQuoted }: SummaryItem): boolean {
  return !isQuoted;
}

function carried(item: SummaryItem, rank: number): Candidate {
  return { item: { ...item, text: clipLine(item.text, CARRIED_TOKENS) }, rank };
}

/** Earlier requests come first; the very first one outranks all but the last. */
function requestsBefore(items: readonly SummaryItem[], later: number): readonly Candidate[] {
  const plain = items.filter(isPlain);
  return plain.map((item, index) => {
    const age = plain.length - 1 - index + later;
    return carried(item, index === 0 ? 0.6 : item.text.startsWith("assistant:") ? 2 * age + 4 : age + 1);
  });
}

function filesTogether(items: readonly SummaryItem[], states: readonly FileState[]): readonly Candidate[] {
  const before = new Map<string, SummaryItem>();
  const others: SummaryItem[] = [];
  for (const item of items.filter(isPlain)) {
    const path = /^(\S.*?): (?:written|changed|read|last|change failed)/.exec(item.text)?.[1];
    if (path === undefined) others.push(item);
    else before.set(path, item);
  }
  const merged = states.map((state) => withCounts(state, before.get(state.path)?.text));
  const touched = new Set(states.map(({ path }) => path));
  const untouched = [...before].filter(([path]) => !touched.has(path)).map(([, item]) => item);
  return [
    ...[...others, ...untouched].map((item, index, all) =>
      carried(item, merged.length + all.length - index + 4),
    ),
    ...merged.map(candidateOfFile),
  ];
}

function withCounts(state: FileState, before: string | undefined): FileState {
  if (before === undefined) return state;
  const count = (word: string) => Number(new RegExp(`\\b${word} ×(\\d+)`).exec(before)?.[1] ?? 0);
  const wasNew = /: written\b/.test(before);
  const changes = count("changed") + (wasNew ? 1 : 0);
  const changedAt = state.changedAt ?? /\blast ([\w-]*#\d+)/.exec(before)?.[1];
  return {
    ...state,
    reads: state.reads + count("read"),
    changes: state.changes + changes,
    isNew: wasNew || (state.isNew && changes === 0 && count("read") === 0),
    changedAt,
  };
}

/** Drops earlier problems that a later run fixed or superseded. */
function stillOpen(items: readonly SummaryItem[], { runs }: DoneSections): readonly SummaryItem[] {
  const ran = new Set(
    runs.map(({ what }) => plainCommand(clipLine(what, COMMAND_TOKENS).replaceAll("`", "'"))),
  );
  return items.filter((item) => {
    if (!isPlain(item) || / cured: passed at | has no result yet$/.test(item.text)) return false;
    const command = /^`([^`]+)` (?:failed|passed|was refused|has no result)/.exec(item.text)?.[1];
    return command === undefined || !ran.has(plainCommand(command));
  });
}

/** Merges lists with the same label. */
function conceptsTogether(items: readonly SummaryItem[], fresh: readonly Candidate[]): readonly Candidate[] {
  const together = fresh.map(({ item, rank }) => {
    const label = labelOf(item.text);
    const before = items.find(({ text }) => label !== undefined && labelOf(text) === label);
    if (label === undefined || !before) return { item, rank };
    const names = [item.text, before.text].flatMap((text) => text.slice(label.length + 2).split(", "));
    return { item: { text: `${label}: ${[...new Set(names)].slice(0, 14).join(", ")}` }, rank };
  });
  const labels = new Set(fresh.map(({ item }) => labelOf(item.text)));
  const others = items.filter((item) => isPlain(item) && !labels.has(labelOf(item.text)));
  return [...others.map((item) => carried(item, 2)), ...together];
}

function labelOf(text: string): string | undefined {
  return /^([A-Z][\w ]{2,30}): /.exec(text)?.[1];
}
