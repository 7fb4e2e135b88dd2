import { answersOf } from "../../answer.ts";
import type { TokensOf } from "../../apply-edits.ts";
import { bondsBetween } from "../../bonds.ts";
import { charactersOf, clipPart, withoutImages } from "../../clip.ts";
import { type Group, groupsOf } from "../../group.ts";
import { protectedSeqs } from "../../protected.ts";
import { rescue } from "../../rescue.ts";
import { sizeOf } from "../../size.ts";
import type { Slot } from "../../slot.ts";
import { clipToldOutput } from "../../told-output.ts";

/** What a rebuild may keep. */
export interface KeepRules {
  /** Tokens that the rebuilt window is to have, and those it must not exceed. */
  readonly space: number;
  readonly room: number;
  /** Messages it is to have. */
  readonly places: number;
  /** Shares of the space: for what the user said, and for a verbatim tail. */
  readonly users: number;
  readonly tail: number;
  readonly pins: ReadonlySet<number>;
  /** Seqs of messages in the user's name that only tools speak in. */
  readonly outputs: ReadonlySet<number>;
  readonly tokensOf: TokensOf;
}

/** What stays of a window, in order, and what leaves it. */
export interface Kept {
  readonly shown: readonly Slot[];
  readonly left: readonly Slot[];
}

const LEAST_CHARACTERS = 200;
const LEAST_TAIL_TOKENS = 4_000;
const LEAST_TAIL_SHARE = 0.7;
/** Shares of the space that one message of the user may take: the latest, and any other. */
const LATEST_SHARE = 0.2;
const OTHER_SHARE = 0.05;
/** If what may not leave is too much, it is clipped to this share of the room, so that the next message does not clip it again. */
const CLIPPED_SHARE = 0.85;

/** Decides what stays word by word: what is protected, then what the user said, then a tail. Groups stay whole. */
export function keepGroups(slots: readonly Slot[], rules: KeepRules): Kept {
  const groups = groupsOf(slots);
  const kept = keepProtected(slots, groups, rules);
  keepUsers(slots, groups, kept, rules);
  keepTail(slots, groups, kept, rules);
  const shown = [...kept].sort(([one], [other]) => one - other).flatMap(([, own]) => own);
  const left = groups.flatMap((group, index) => (kept.has(index) ? [] : slotsIn(slots, group)));
  return { shown, left };
}

/** True for what a person said; output of tools comes in the user's name in some formats. Summaries count as said. */
export function isUsers({ message, seq }: Slot, outputs: ReadonlySet<number>): boolean {
  if (message.role !== "user" || outputs.has(seq)) return false;
  return !message.parts.some((part) => part.type === "tool-result");
}

type KeptGroups = Map<number, readonly Slot[]>;

/** What is protected stays as it is; only if it could not fit otherwise is the largest of it clipped, and pins never. */
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
  const all = [...kept.values()].flat();
  if (sizeOf(all) <= rules.room) return kept;
  const clipped = rescue(all, rules.room * CLIPPED_SHARE, rules.tokensOf, ({ seq }) => rules.pins.has(seq));
  let from = 0;
  for (const [index, { length }] of kept) {
    kept.set(index, clipped.slice(from, from + length));
    from += length;
  }
  return kept;
}

function keepUsers(
  slots: readonly Slot[],
  groups: readonly Group[],
  kept: KeptGroups,
  rules: KeepRules,
): void {
  const isSaid = (slot: Slot) => isUsers(slot, rules.outputs);
  const isOpen = (index: number) => !kept.has(index) && isSaid(slots[(groups[index] as Group).from] as Slot);
  const users = [...groups.keys()].filter(isOpen).reverse();
  const protectedUsers = [...kept.values()].filter(([first]) => first && isSaid(first));
  // What is protected must not be clipped to make room for what is not.
  const room = rules.room - sizeOf([...kept.values()].flat());
  let left = Math.min(room, rules.space * rules.users - sizeOf(protectedUsers.flat()));
  for (const index of users) {
    const share = rules.space * (index === users[0] ? LATEST_SHARE : OTHER_SHARE);
    const characters = Math.floor(Math.min(left, share) * 4);
    if (characters < LEAST_CHARACTERS || placesLeft(kept, rules) < 2) return;
    const shown = slotsIn(slots, groups[index]).map((slot) => shortened(slot, characters, rules.tokensOf));
    kept.set(index, shown);
    left -= sizeOf(shown);
  }
}

/** A bulky group inside the tail goes to the extract and the tail goes on. */
function keepTail(
  slots: readonly Slot[],
  groups: readonly Group[],
  kept: KeptGroups,
  rules: KeepRules,
): void {
  const room = rules.space - sizeOf([...kept.values()].flat());
  const share = Math.max(0, room * rules.tail, Math.min(room * LEAST_TAIL_SHARE, LEAST_TAIL_TOKENS));
  let left = share;
  for (let index = groups.length - 1; index >= 0 && left > 0; index--) {
    if (kept.has(index) || isUsers(slots[(groups[index] as Group).from] as Slot, rules.outputs)) continue;
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

function shortened(slot: Slot, characters: number, tokensOf: TokensOf): Slot {
  const isLong = slot.message.parts.reduce((sum, part) => sum + charactersOf(part), 0) > characters;
  let message = withoutImages(isLong ? clipToldOutput(slot.message, LEAST_CHARACTERS) : slot.message);
  for (const [index, part] of message.parts.entries())
    if (charactersOf(part) > characters) message = clipPart(message, index, characters);
  if (message === slot.message) return slot;
  return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
}

function slotsIn(slots: readonly Slot[], group: Group | undefined): readonly Slot[] {
  return group ? slots.slice(group.from, group.to + 1) : [];
}
