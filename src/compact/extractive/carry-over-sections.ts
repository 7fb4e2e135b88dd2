import type { SummaryItem, SummarySections } from "../contract/summary-sections.ts";
import { type ActionSections, COMMAND_TOKENS, toFileCandidate } from "./action-sections.ts";
import { type FileState, normalizeCommand } from "./actions.ts";
import { isQuestion, splitOuterSentences } from "./split-sentences.ts";
import { clipLine, dropRepeats, type SectionCandidates, type SummaryCandidate } from "./summary-candidate.ts";

/** Activity since an earlier summary, which determines the items that remain valid. */
interface LaterActivity {
  readonly actions: ActionSections;
  /** The last reply without a call, if there was one. */
  readonly reply: string | undefined;
}

const OLD_RANK = 30;
const CARRIED_TOKENS = 160;

/** Merges the sections of an earlier summary with new ones: superseded items are dropped, the others carried over. */
export function carryOverSections(
  earlier: SummarySections,
  fresh: SectionCandidates,
  since: LaterActivity,
): SectionCandidates {
  const kept = (items: readonly SummaryItem[], rank: number) =>
    items.filter(isPlain).map((item) => toCarriedCandidate(item, rank));
  const files = mergeFiles(earlier.files, since.actions.states);
  const settled = since.reply !== undefined && !isQuestion(splitOuterSentences(since.reply).at(-1) ?? "");
  const asks = settled ? [] : kept(earlier.asks, 20);
  const orElse = (later: readonly SummaryCandidate[], items: readonly SummaryItem[]) =>
    later.length > 0 ? later : kept(items, 0);
  return {
    previous: dropRepeats([...carryOverRequests(earlier.previous, fresh.previous.length), ...fresh.previous]),
    current: orElse(fresh.current, earlier.current),
    concepts: mergeConcepts(earlier.concepts, fresh.concepts),
    files,
    problems: [...kept(filterOpenProblems(earlier.problems, since.actions), 14), ...fresh.problems],
    decisions: dropRepeats([...kept(earlier.decisions, 4), ...fresh.decisions]),
    constraints: dropRepeats([...kept(earlier.constraints, 4), ...fresh.constraints]),
    questions: dropRepeats([...(settled ? [] : kept(earlier.questions, OLD_RANK)), ...fresh.questions]),
    todos: orElse(fresh.todos, earlier.todos),
    asks: dropRepeats([...asks, ...fresh.asks]),
    pending: orElse(fresh.pending, earlier.pending),
    identifiers: fresh.identifiers,
  };
}

function isPlain({ isQuoted }: SummaryItem): boolean {
  return !isQuoted;
}

function toCarriedCandidate(item: SummaryItem, rank: number): SummaryCandidate {
  return { item: { ...item, text: clipLine(item.text, CARRIED_TOKENS) }, rank };
}

/** Earlier requests come first; the very first one outranks all but the last. */
function carryOverRequests(items: readonly SummaryItem[], later: number): readonly SummaryCandidate[] {
  const plain = items.filter(isPlain);
  return plain.map((item, index) => {
    const age = plain.length - 1 - index + later;
    return toCarriedCandidate(
      item,
      index === 0 ? 0.6 : item.text.startsWith("assistant:") ? 2 * age + 4 : age + 1,
    );
  });
}

function mergeFiles(
  items: readonly SummaryItem[],
  states: readonly FileState[],
): readonly SummaryCandidate[] {
  const before = new Map<string, SummaryItem>();
  const others: SummaryItem[] = [];
  for (const item of items.filter(isPlain)) {
    const path = /^(\S.*?): (?:written|changed|read|last|change failed)/.exec(item.text)?.[1];
    if (path === undefined) others.push(item);
    else before.set(path, item);
  }
  const merged = states.map((state) => addCounts(state, before.get(state.path)?.text));
  const touched = new Set(states.map(({ path }) => path));
  const untouched = [...before].filter(([path]) => !touched.has(path)).map(([, item]) => item);
  return [
    ...[...others, ...untouched].map((item, index, all) =>
      toCarriedCandidate(item, merged.length + all.length - index + 4),
    ),
    ...merged.map(toFileCandidate),
  ];
}

function addCounts(state: FileState, before: string | undefined): FileState {
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
function filterOpenProblems(items: readonly SummaryItem[], { runs }: ActionSections): readonly SummaryItem[] {
  const ran = new Set(
    runs.map(({ name: what }) => normalizeCommand(clipLine(what, COMMAND_TOKENS).replaceAll("`", "'"))),
  );
  return items.filter((item) => {
    if (!isPlain(item) || / cured: passed at | has no result yet$/.test(item.text)) return false;
    const command = /^`([^`]+)` (?:failed|passed|was refused|has no result)/.exec(item.text)?.[1];
    return command === undefined || !ran.has(normalizeCommand(command));
  });
}

/** Merges lists with the same label. */
function mergeConcepts(
  items: readonly SummaryItem[],
  fresh: readonly SummaryCandidate[],
): readonly SummaryCandidate[] {
  const together = fresh.map(({ item, rank }) => {
    const label = labelOf(item.text);
    const before = items.find(({ text }) => label !== undefined && labelOf(text) === label);
    if (label === undefined || !before) return { item, rank };
    const names = [item.text, before.text].flatMap((text) => text.slice(label.length + 2).split(", "));
    return { item: { text: `${label}: ${[...new Set(names)].slice(0, 14).join(", ")}` }, rank };
  });
  const labels = new Set(fresh.map(({ item }) => labelOf(item.text)));
  const others = items.filter((item) => isPlain(item) && !labels.has(labelOf(item.text)));
  return [...others.map((item) => toCarriedCandidate(item, 2)), ...together];
}

function labelOf(text: string): string | undefined {
  return /^([A-Z][\w ]{2,30}): /.exec(text)?.[1];
}
