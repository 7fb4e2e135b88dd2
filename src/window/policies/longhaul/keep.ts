import { textOfMessage } from "../../../model/message.ts";
import { answersOf } from "../../answer.ts";
import type { TokensOf } from "../../apply-edits.ts";
import { bondsBetween } from "../../bonds.ts";
import { type Group, groupsOf } from "../../group.ts";
import { newestQuestion, protectedSeqs } from "../../protected.ts";
import { sizeOf } from "../../size.ts";
import type { Slot } from "../../slot.ts";
import { relateTexts } from "./relate.ts";
import { type Words, withoutExtras } from "./words.ts";

/** What a rebuild may keep. */
export interface KeepRules {
  /** Tokens that the rebuilt window is to have. */
  readonly space: number;
  /** Messages it is to have. */
  readonly places: number;
  /** Share of the space for a verbatim tail of tool calls with their results. */
  readonly tail: number;
  /** Tokens that the window may take with what was said in it; more of that has to leave. Infinity to keep all of it. */
  readonly saidSpace: number;
  /** Tokens of that for an extract of tool output, as far as there is any. */
  readonly extractTokens: number;
  readonly pins: ReadonlySet<number>;
  readonly tokensOf: TokensOf;
}

/** What stays of a window, in order, and what leaves it. */
export interface Kept {
  readonly shown: readonly Slot[];
  /** What was said in messages that leave otherwise, because they call tools. */
  readonly quoted: readonly Slot[];
  readonly left: readonly Slot[];
}

const LEAST_TAIL_TOKENS = 4_000;
const LEAST_TAIL_SHARE = 0.7;
/** Share of the window that is left for words at least, however much work there is. */
const MIN_SAID_SHARE = 0.15;
/** Of what may stay of the words, the shares for the latest of the user, and for those related to the newest question. */
const USER_SHARE = 0.4;
const RELATED_SHARE = 0.3;

/**
 * Decides what stays word by word: what is protected, a tail of tool calls, and what was said. Groups stay whole. Where
 * the limit forces words out, the oldest and least related leave first.
 */
export function keepGroups(slots: readonly Slot[], said: readonly Words[], rules: KeepRules): Kept {
  const groups = groupsOf(slots);
  const wordsAt = new Map(said.map((words) => [words.slot.seq, words]));
  const isSaid = (index: number) => {
    const slot = slots[(groups[index] as Group).from] as Slot;
    return slot.isNote === true || wordsAt.get(slot.seq)?.isWhole === true;
  };
  const kept = keepProtected(slots, groups, rules);
  keepTail(slots, groups, kept, isSaid, rules);
  const shownSeqs = new Set([...kept.values()].flat().map(({ seq }) => seq));
  const open = [...groups.keys()].filter((index) => !kept.has(index) && isSaid(index));
  const busy = said.filter(({ slot, isWhole }) => !isWhole && !shownSeqs.has(slot.seq));
  const items = [
    ...open.map((index) => ({
      index,
      slots: slotsIn(slots, groups[index]).map((slot) => withoutExtras(slot, rules.tokensOf)),
    })),
    ...busy.map(({ slot }) => ({ index: undefined, slots: [slot] })),
  ].sort((one, other) => seqOf(one) - seqOf(other));
  const question = slots[newestQuestion(slots)];
  const maxTokens = saidTokens(slots, [...kept.values()].flat(), items, rules);
  const staying = chooseItems(items, question ? textOfMessage(question.message) : "", maxTokens);
  const quoted: Slot[] = [];
  const first = slots.findIndex(({ message }) => message.role === "user");
  // Providers refuse a conversation that the assistant begins: its first words are quoted.
  const isTooEarly = (index: number) => (groups[index] as Group).to < first;
  for (const { index, slots: own } of staying) {
    if (index === undefined || (isTooEarly(index) && own[0]?.message.role === "assistant"))
      for (const slot of own) quoted.push(slot);
    else if (own.length < placesLeft(kept, rules)) kept.set(index, own);
  }
  const shown = [...kept].sort(([one], [other]) => one - other).flatMap(([, own]) => own);
  const left = groups.flatMap((group, index) => (kept.has(index) ? [] : slotsIn(slots, group)));
  return { shown, quoted, left };
}

type KeptGroups = Map<number, readonly Slot[]>;

interface Item {
  /** Of the group, for words that make up a message. */
  readonly index: number | undefined;
  readonly slots: readonly Slot[];
}

/** Tokens that what was said may take: what other messages and an extract of those that leave do not need. */
function saidTokens(
  slots: readonly Slot[],
  kept: readonly Slot[],
  items: readonly Item[],
  { saidSpace, extractTokens }: KeepRules,
): number {
  if (saidSpace === Number.POSITIVE_INFINITY) return saidSpace;
  const keptTokens = sizeOf(kept);
  const said = items.reduce((sum, item) => sum + sizeOf(item.slots), 0);
  const leaving = Math.max(0, sizeOf(slots) - keptTokens - said);
  const rest = saidSpace - keptTokens - Math.min(extractTokens, leaving);
  return Math.max(rest, Math.min(saidSpace * MIN_SAID_SHARE, saidSpace - keptTokens));
}

/** The items that stay within so many tokens: what the user said lately, what is related to the question, and the newest. */
function chooseItems(items: readonly Item[], question: string, maxTokens: number): readonly Item[] {
  const sizes = items.map(({ slots }) => sizeOf(slots));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= maxTokens) return items;
  const staying = new Set<number>();
  let left = maxTokens;
  const take = (index: number, room: number) => {
    const size = sizes[index] as number;
    if (staying.has(index) || size > Math.min(room, left)) return 0;
    staying.add(index);
    left -= size;
    return size;
  };
  let usersRoom = maxTokens * USER_SHARE;
  for (let index = items.length - 1; index >= 0; index--)
    if (items[index]?.slots[0]?.message.role === "user") usersRoom -= take(index, usersRoom);
  const related = relateTexts(
    question,
    items.map(({ slots }) => slots.map(({ message }) => textOfMessage(message)).join("\n")),
  );
  const byRelation = [...items.keys()].sort((one, other) => (related[other] ?? 0) - (related[one] ?? 0));
  let room = maxTokens * RELATED_SHARE;
  for (const index of byRelation) if ((related[index] ?? 0) > 0) room -= take(index, room);
  for (let index = items.length - 1; index >= 0; index--) take(index, left);
  return items.filter((_, index) => staying.has(index));
}

/** What is protected stays as it is, with everything that calls and results tie to it. */
function keepProtected(slots: readonly Slot[], groups: readonly Group[], rules: KeepRules): KeptGroups {
  const seqs = protectedSeqs(slots, rules.pins);
  const bonds = bondsBetween(answersOf(slots));
  const indexes = new Set<number>();
  for (const [index, { seq, isNote }] of slots.entries())
    if (!isNote && seqs.has(seq)) for (const bonded of bonds.get(index) ?? [index]) indexes.add(bonded);
  const kept: KeptGroups = new Map();
  for (const [index, group] of groups.entries()) {
    const own = slotsIn(slots, group);
    if (own.some((_, offset) => indexes.has(group.from + offset))) kept.set(index, own);
  }
  return kept;
}

/** A bulky group inside the tail goes to the extract and the tail goes on. */
function keepTail(
  slots: readonly Slot[],
  groups: readonly Group[],
  kept: KeptGroups,
  isSaid: (group: number) => boolean,
  rules: KeepRules,
): void {
  const room = rules.space - sizeOf([...kept.values()].flat());
  const share = Math.max(0, room * rules.tail, Math.min(room * LEAST_TAIL_SHARE, LEAST_TAIL_TOKENS));
  let left = share;
  for (let index = groups.length - 1; index >= 0 && left > 0; index--) {
    if (kept.has(index) || isSaid(index)) continue;
    const own = slotsIn(slots, groups[index]);
    const size = sizeOf(own);
    if (size > share) continue;
    if (size > left || own.length >= placesLeft(kept, rules)) return;
    left -= size;
    kept.set(index, own);
  }
}

/** Every group that stays takes a place for each of its messages and one for a note before it. */
function placesLeft(kept: KeptGroups, { places }: KeepRules): number {
  if (places === Number.POSITIVE_INFINITY) return places;
  return places - [...kept.values()].reduce((sum, own) => sum + own.length + 1, 0);
}

function seqOf({ slots }: Item): number {
  return slots[0]?.seq ?? 0;
}

function slotsIn(slots: readonly Slot[], group: Group | undefined): readonly Slot[] {
  return group ? slots.slice(group.from, group.to + 1) : [];
}
