import { textOfMessage } from "../../../model/message.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { findBonds } from "../../find-bonds.ts";
import { type Group, groupSlots } from "../../group.ts";
import { findNewestQuestion, findProtectedSeqs } from "../../protected-seqs.ts";
import { type Slot, sumSlotTokens } from "../../slot.ts";
import { dropExtras, type MessageText } from "./message-texts.ts";

/** Words that occur in most sentences and carry no topic. */
const COMMON_WORDS = new Set(
  "the and for that this with you are was were have has had not but can will would could should what which who how why when where from your our their them they his her its it's i'm there here then than into about over just like also some any all been being did does done more most other such only very".split(
    " ",
  ),
);
const WORD = /[\p{L}\p{N}_]+/gu;
const HAN = /\p{Script=Han}/u;
const MAX_CHARACTERS = 20_000;

/** Limits for a rebuilt window. */
interface KeepRules {
  /** Target size of the rebuilt window, in tokens. */
  readonly targetTokens: number;
  /** Target number of messages. */
  readonly targetMessages: number;
  /** Share of the space for a verbatim tail of tool calls with their results. */
  readonly tailShare: number;
  /** Tokens that the window may take including text of user and assistant; text beyond that has to leave. Infinity keeps all of it. */
  readonly textTokens: number;
  /** Tokens of `saidSpace` reserved for an extract of tool output, if there is any. */
  readonly extractTokens: number;
  readonly pins: ReadonlySet<number>;
  /** True for messages that a person has brought back; the newest of them stay whole, up to `heldTokens`. */
  readonly isHeld: (slot: Slot) => boolean;
  readonly heldTokens: number;
  /** Tokens up to which the newest other messages stay too where some are held; 0 where none are. */
  readonly undoneTokens: number;
  /** True for messages that are not in the window now; a note quotes them if they stay. */
  readonly isAway: (slot: Slot) => boolean;
  readonly tokensOf: TokenEstimator;
}

/** The slots that stay in a window, in order, and those that leave. */
interface KeptSlots {
  readonly shown: readonly Slot[];
  /** Text to quote from messages that leave, mostly because they call tools. */
  readonly quoted: readonly Slot[];
  readonly removed: readonly Slot[];
}

const MIN_TAIL_TOKENS = 2_000;
const MIN_TAIL_SHARE = 0.7;
/** Minimum share of `saidSpace` for text of user and assistant, however much room tool calls take. */
const MIN_TEXT_SHARE = 0.15;
/** Shares of the tokens for text: for the latest user messages, and for messages related to the newest question. */
const USER_SHARE = 0.4;
const RELATED_SHARE = 0.3;

/**
 * Decides which messages stay verbatim: protected ones, a tail of tool calls, and text of user and assistant. Groups
 * stay whole. If the limit forces text out, the oldest and least related leaves first.
 */
export function keepGroups(
  slots: readonly Slot[],
  said: readonly MessageText[],
  rules: KeepRules,
): KeptSlots {
  const groups = groupSlots(slots);
  const wordsAt = new Map(said.map((words) => [words.slot.seq, words]));
  const isSaid = (index: number) => {
    const slot = slots[(groups[index] as Group).from] as Slot;
    return slot.isNote === true || wordsAt.get(slot.seq)?.isWhole === true;
  };
  const kept = keepProtected(slots, groups, rules);
  keepHeld(slots, groups, kept, rules);
  keepTail(slots, groups, kept, isSaid, rules);
  const shownSeqs = new Set([...kept.values()].flat().map(({ seq }) => seq));
  const open = [...groups.keys()].filter((index) => !kept.has(index) && isSaid(index));
  const busy = said.filter(({ slot, isWhole }) => !isWhole && !shownSeqs.has(slot.seq));
  const items = [
    ...open.map((index) => ({
      index,
      slots: sliceGroup(slots, groups[index]).map((slot) => dropExtras(slot, rules.tokensOf)),
    })),
    ...busy.map(({ slot }) => ({ index: undefined, slots: [slot] })),
  ].sort((one, other) => seqOf(one) - seqOf(other));
  const question = slots[findNewestQuestion(slots)];
  const maxTokens = computeTextTokens(slots, [...kept.values()].flat(), items, rules);
  const staying = chooseItems(items, question ? textOfMessage(question.message) : "", maxTokens);
  const quoted: Slot[] = [];
  const first = slots.findIndex(({ message }) => message.role === "user");
  // Providers refuse a conversation that begins with the assistant, so its first text is quoted.
  const isTooEarly = (index: number) => (groups[index] as Group).to < first;
  // Messages before the newest one that leaves would stand alone, each with a gap around it, so their text is quoted.
  const here = new Set(staying);
  const newestGone = seqOf(items.findLast((item) => !here.has(item)) ?? { index: undefined, slots: [] });
  for (const item of staying) {
    const { index, slots: own } = item;
    const isApart = seqOf(item) < newestGone || own.some(rules.isAway);
    if (index === undefined || isApart || (isTooEarly(index) && own[0]?.message.role === "assistant"))
      for (const slot of own) quoted.push(slot);
    else if (own.length < countPlacesLeft(kept, rules)) kept.set(index, own);
  }
  const shown = [...kept].sort(([one], [other]) => one - other).flatMap(([, own]) => own);
  const left = groups.flatMap((group, index) => (kept.has(index) ? [] : sliceGroup(slots, group)));
  return { shown, quoted, removed: left };
}

type KeptGroups = Map<number, readonly Slot[]>;

interface KeepItem {
  /** Index of the group, if the text makes up whole messages. */
  readonly index: number | undefined;
  readonly slots: readonly Slot[];
}

/** Tokens for text of user and assistant: the space that other kept messages and an extract do not need. */
function computeTextTokens(
  slots: readonly Slot[],
  kept: readonly Slot[],
  items: readonly KeepItem[],
  { textTokens: saidSpace, extractTokens }: KeepRules,
): number {
  if (saidSpace === Number.POSITIVE_INFINITY) return saidSpace;
  const keptTokens = sumSlotTokens(kept);
  const said = items.reduce((sum, item) => sum + sumSlotTokens(item.slots), 0);
  const leaving = Math.max(0, sumSlotTokens(slots) - keptTokens - said);
  const rest = saidSpace - keptTokens - Math.min(extractTokens, leaving);
  return Math.max(rest, Math.min(saidSpace * MIN_TEXT_SHARE, saidSpace - keptTokens));
}

/**
 * Chooses the items that stay within `maxTokens`: the latest of the user, those related to the question, then the
 * newest.
 */
function chooseItems(items: readonly KeepItem[], question: string, maxTokens: number): readonly KeepItem[] {
  const sizes = items.map(({ slots }) => sumSlotTokens(slots));
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
  const related = scoreTexts(
    question,
    items.map(({ slots }) => slots.map(({ message }) => textOfMessage(message)).join("\n")),
  );
  const byRelation = [...items.keys()].sort((one, other) => (related[other] ?? 0) - (related[one] ?? 0));
  let room = maxTokens * RELATED_SHARE;
  for (const index of byRelation) if ((related[index] ?? 0) > 0) room -= take(index, room);
  for (let index = items.length - 1; index >= 0; index--) take(index, left);
  return items.filter((_, index) => staying.has(index));
}

/** Protected messages stay unchanged, with every message bound to them by calls and results. */
function keepProtected(slots: readonly Slot[], groups: readonly Group[], rules: KeepRules): KeptGroups {
  const seqs = findProtectedSeqs(slots, rules.pins);
  const bonds = findBonds(slots);
  const indexes = new Set<number>();
  for (const [index, { seq, isNote }] of slots.entries())
    if (!isNote && seqs.has(seq)) for (const bonded of bonds.get(index) ?? [index]) indexes.add(bonded);
  const kept: KeptGroups = new Map();
  for (const [index, group] of groups.entries()) {
    const own = sliceGroup(slots, group);
    if (own.some((_, offset) => indexes.has(group.from + offset))) kept.set(index, own);
  }
  return kept;
}

/**
 * Groups with held messages leave last: the newest of them stay as long as there is room. The newest other groups fill
 * the room that is left, so that the agent does not lose its latest work.
 */
function keepHeld(
  slots: readonly Slot[],
  groups: readonly Group[],
  kept: KeptGroups,
  { isHeld, heldTokens, undoneTokens }: KeepRules,
): void {
  const indexes = [...groups.keys()].reverse();
  let used = sumSlotTokens([...kept.values()].flat());
  const keep = (index: number, own: readonly Slot[], most: number) => {
    const size = sumSlotTokens(own);
    if (used + size > most) return false;
    used += size;
    kept.set(index, own);
    return true;
  };
  for (const index of indexes) {
    const own = sliceGroup(slots, groups[index]);
    if (!kept.has(index) && own.some(isHeld) && !keep(index, own, heldTokens)) break;
  }
  for (const index of indexes) {
    const own = sliceGroup(slots, groups[index]);
    if (!kept.has(index) && !own.some(isHeld)) keep(index, own, undoneTokens);
  }
}

/** A bulky group inside the tail goes to the extract, and the tail continues before it. */
function keepTail(
  slots: readonly Slot[],
  groups: readonly Group[],
  kept: KeptGroups,
  isSaid: (group: number) => boolean,
  rules: KeepRules,
): void {
  const room = rules.targetTokens - sumSlotTokens([...kept.values()].flat());
  const share = Math.max(0, room * rules.tailShare, Math.min(room * MIN_TAIL_SHARE, MIN_TAIL_TOKENS));
  let left = share;
  for (let index = groups.length - 1; index >= 0 && left > 0; index--) {
    if (kept.has(index) || isSaid(index)) continue;
    const own = sliceGroup(slots, groups[index]);
    const size = sumSlotTokens(own);
    if (size > share) continue;
    if (size > left || own.length >= countPlacesLeft(kept, rules)) return;
    left -= size;
    kept.set(index, own);
  }
}

/** Every group that stays takes one place per message and one for a note before it. */
function countPlacesLeft(kept: KeptGroups, { targetMessages: places }: KeepRules): number {
  if (places === Number.POSITIVE_INFINITY) return places;
  return places - [...kept.values()].reduce((sum, own) => sum + own.length + 1, 0);
}

function seqOf({ slots }: KeepItem): number {
  return slots[0]?.seq ?? 0;
}

function sliceGroup(slots: readonly Slot[], group: Group | undefined): readonly Slot[] {
  return group ? slots.slice(group.from, group.to + 1) : [];
}

/**
 * Scores how closely each text is related to a question: rare shared words weigh most, and long texts gain little from
 * their length. 0 for a text that shares no word with it.
 */
function scoreTexts(question: string, texts: readonly string[]): readonly number[] {
  const wanted = new Set(splitTerms(question));
  if (wanted.size === 0) return texts.map(() => 0);
  const found = texts.map((text) => {
    const shared = new Set<string>();
    let count = 0;
    for (const term of splitTerms(text)) {
      count++;
      if (wanted.has(term)) shared.add(term);
    }
    return { shared, count };
  });
  const frequencies = new Map<string, number>();
  for (const { shared } of found)
    for (const term of shared) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const weightOf = (term: string) => Math.log(1 + texts.length / (frequencies.get(term) ?? 1));
  return found.map(({ shared, count }) => {
    let sum = 0;
    for (const term of shared) sum += weightOf(term);
    return sum / (1 + count) ** 0.25;
  });
}

/** Words in lower case; Chinese, which has no spaces, as pairs of characters. */
function* splitTerms(text: string): Generator<string> {
  for (const [word] of text.slice(0, MAX_CHARACTERS).toLowerCase().matchAll(WORD)) {
    if (HAN.test(word)) {
      for (let at = 0; at + 1 < word.length; at++) yield word.slice(at, at + 2);
    } else if (word.length > 2 && !COMMON_WORDS.has(word)) yield word;
  }
}
