import type { Message } from "../../model/message.ts";
import type { TokensOf } from "../apply-edits.ts";
import { charactersOf, clipPart, withoutImages } from "../clip.ts";
import { chooseLines } from "../extract/choose-lines.ts";
import { type CandidateLine, type Fact, Facts } from "../extract/facts.ts";
import { Shelf } from "../extract/shelf.ts";
import { answeredBy, callsOf, type Group, groupsOf } from "../group.ts";
import type { Budget, Moment, Policy, PolicyRun } from "../policy.ts";
import { rescue } from "../rescue.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import { withoutLostCalls } from "./lost-calls.ts";
import { withoutLostResults } from "./lost-results.ts";

/** How the window is rebuilt. Shares are of the room behind system prompt and tools, unless said otherwise. */
export interface LonghaulOptions {
  /** A rebuild goes down to this share, */
  readonly low: number;
  /** but never to more tokens than this: reads are what costs, so money wants a target of its own. */
  readonly target: number;
  /** Kept word by word at the end. */
  readonly tail: number;
  /** For what the user said. */
  readonly users: number;
  /** Most that the last exchange may take before it is clipped. */
  readonly last: number;
  /** When the cache is cold anyway, rebuild from this multiple of the low mark on. */
  readonly cold: number;
  /** How far the window may grow between rebuilds: this times the root of (low mark × tokens of a call). */
  readonly stretch: number;
}

/** What holds unless the caller says otherwise. */
export const LONGHAUL_OPTIONS: LonghaulOptions = {
  low: 0.65,
  target: 48_000,
  tail: 0.14,
  users: 0.15,
  last: 0.85,
  cold: 0.8,
  stretch: 6.5,
};

/** Below this room only what is needed soon pays. */
const NARROW_TOKENS = 16_000;
const LEAST = { near: 0.002, far: 0.0009 } as const;
const LEAST_CALL_TOKENS = 200;
const NOTE_TOKENS = 25;
const MIN_USERS = 200;

/**
 * The default: few, large rebuilds, where they pay. What is old leaves as a whole and comes back as an extract: verbatim
 * lines, each fact once, chosen by how likely the assistant needs them again for each token they take.
 */
export function longhaul(options: Partial<LonghaulOptions> = {}): Policy {
  const settled = { ...LONGHAUL_OPTIONS, ...options };
  return { name: "longhaul", start: (budget, tokensOf) => new LonghaulRun(settled, budget, tokensOf) };
}

class LonghaulRun implements PolicyRun {
  readonly #options: LonghaulOptions;
  readonly #budget: Budget;
  readonly #tokensOf: TokensOf;
  readonly #facts = new Facts();
  readonly #shelf = new Shelf(this.#facts);
  readonly #low: number;
  #window: Slot[] = [];
  #tokens: number;
  /** The first thing the user said, and the latest ones, as they were said. */
  #users: Slot[] = [];
  /** Calls of the window that have been answered. */
  readonly #answered = new Set<string>();
  #calls = 0;
  #saidTokens = 0;

  constructor(options: LonghaulOptions, budget: Budget, tokensOf: TokensOf) {
    this.#options = options;
    this.#budget = budget;
    this.#tokensOf = tokensOf;
    this.#tokens = budget.system;
    this.#low = Math.min(
      budget.system + (budget.tokens - budget.system) * options.low,
      Math.max(options.target, budget.system),
    );
  }

  observe(slot: Slot): void {
    this.#facts.observe(slot.message);
    this.#window.push(slot);
    this.#tokens += slot.tokens;
    this.#saidTokens += slot.tokens;
    if (isUsers(slot)) this.#rememberUser(slot);
    for (const callId of answeredBy(slot.message)) this.#answered.add(callId);
  }

  fit({ isHot }: Moment): readonly Slot[] {
    this.#calls++;
    const isOver = this.#tokens > this.#budget.tokens;
    const pays = this.#tokens > this.#high() || (!isHot && this.#tokens > this.#low * this.#options.cold);
    if (isOver || pays) this.#rebuild();
    else this.#settle(this.#window);
    return [...this.#window];
  }

  /**
   * Where a rebuild pays while the cache is hot: letting the window grow by x costs reads of x/2 a call, rebuilding L
   * tokens every x/g calls costs writes of L·g/x; their sum is least at a multiple of √(L·g).
   */
  #high(): number {
    const callTokens = Math.max(LEAST_CALL_TOKENS, this.#saidTokens / Math.max(1, this.#calls));
    return Math.min(
      this.#budget.tokens,
      this.#low + this.#options.stretch * Math.sqrt(this.#low * callTokens),
    );
  }

  #rebuild(): void {
    const space = this.#low - this.#budget.system;
    const slots = this.#slotsAsSaid();
    const groups = groupsOf(slots);
    const kept = new Map<number, Slot[]>();
    const last = groups.length - 1;
    const keep = (index: number, shown: readonly Slot[]) => kept.set(index, [...shown]);

    keep(last, this.#fitLast(slotsIn(slots, groups[last])));
    let room = space - sizeOf(kept.get(last) ?? []);
    room -= this.#keepUsers(slots, groups, space, keep, last);
    room -= this.#keepTail(slots, groups, room, keep, kept);
    for (const [index, group] of groups.entries()) {
      if (kept.has(index)) continue;
      for (const { message, seq } of slotsIn(slots, group)) this.#shelf.put(message, seq);
    }
    const shown = [...kept].sort(([a], [b]) => a - b).flatMap(([, own]) => own);
    const called = new Set(shown.flatMap(({ message }) => callsOf(message)));
    for (const callId of this.#answered) if (!called.has(callId)) this.#answered.delete(callId);
    this.#show(shown, this.#extract(shown, room));
  }

  /** The messages of the window as they were said, with those of the user that had left it. */
  #slotsAsSaid(): readonly Slot[] {
    const bySeq = new Map<number, Slot>();
    for (const slot of this.#users) bySeq.set(slot.seq, slot);
    for (const slot of this.#window) if (!slot.isNote) bySeq.set(slot.seq, this.#restored(slot));
    return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  }

  #restored(slot: Slot): Slot {
    const { original, ...rest } = slot;
    return original ? { ...rest, message: original, tokens: this.#tokensOf(original) } : slot;
  }

  /** The last exchange stays; only if it cannot fit is the largest of its parts clipped. */
  #fitLast(slots: readonly Slot[]): readonly Slot[] {
    const most = (this.#budget.tokens - this.#budget.system) * this.#options.last;
    return rescue(slots, most, this.#tokensOf);
  }

  #keepUsers(
    slots: readonly Slot[],
    groups: readonly Group[],
    space: number,
    keep: (index: number, shown: readonly Slot[]) => void,
    last: number,
  ): number {
    let left = space * this.#options.users;
    let taken = 0;
    const users = groups.flatMap((group, index) =>
      index !== last && isUsers(slots[group.from] as Slot) ? [index] : [],
    );
    const [first, ...others] = users;
    for (const index of first === undefined ? [] : [first, ...others.reverse()]) {
      const isEnd = index === first || index === users.at(-1);
      const share = Math.floor(Math.min(left, space * (isEnd ? 0.2 : 0.05)) * 4);
      // What the user asked first is never left out, however little room there is.
      const characters = index === first ? Math.max(MIN_USERS, share) : share;
      if (characters < MIN_USERS) continue;
      const shown = slotsIn(slots, groups[index]).map((slot) => this.#shortened(slot, characters));
      keep(index, shown);
      left -= sizeOf(shown);
      taken += sizeOf(shown);
    }
    return taken;
  }

  #shortened(slot: Slot, characters: number): Slot {
    let message = withoutImages(slot.message);
    for (const [index, part] of message.parts.entries())
      if (charactersOf(part) > characters) message = clipPart(message, index, characters);
    return message === slot.message ? slot : this.#changed(slot, message);
  }

  /** A verbatim tail; a bulky group inside it goes to the extract and the tail goes on. */
  #keepTail(
    slots: readonly Slot[],
    groups: readonly Group[],
    room: number,
    keep: (index: number, shown: readonly Slot[]) => void,
    kept: ReadonlyMap<number, readonly Slot[]>,
  ): number {
    const share = Math.max(0, room * this.#options.tail, Math.min(room * 0.7, 4_000));
    let left = share;
    for (let index = groups.length - 2; index >= 0 && left > 0; index--) {
      if (kept.has(index) || isUsers(slots[(groups[index] as Group).from] as Slot)) continue;
      const own = slotsIn(slots, groups[index]);
      const size = sizeOf(own);
      if (size > share) continue;
      if (size > left) break;
      left -= size;
      keep(index, own);
    }
    return share - left;
  }

  #extract(shown: readonly Slot[], room: number): readonly CandidateLine[] {
    const covered = new Set<Fact>();
    for (const { message } of shown) for (const fact of this.#facts.factsIn(message)) covered.add(fact);
    const most = this.#budget.tokens - this.#budget.system - sizeOf(shown);
    const least = (this.#budget.tokens - this.#budget.system) * 0.1;
    const notes = 1 + shown.filter(isUsers).length;
    const horizon = this.#low - this.#budget.system < NARROW_TOKENS ? "near" : "far";
    return chooseLines(this.#shelf.lines, {
      room: Math.min(Math.max(room, least), most) - NOTE_TOKENS * notes,
      least: LEAST[horizon],
      need: (fact) => this.#facts.need(fact, horizon),
      covered,
    });
  }

  /** Puts notes with the chosen lines into the gaps they come from. */
  #show(shown: readonly Slot[], lines: readonly CandidateLine[]): void {
    const sorted = [...lines].sort((a, b) => a.seq - b.seq || a.order - b.order);
    const window: Slot[] = [];
    let next = 0;
    for (const slot of [...shown, undefined]) {
      const gap: CandidateLine[] = [];
      while (next < sorted.length && (!slot || (sorted[next] as CandidateLine).seq < slot.seq))
        gap.push(sorted[next++] as CandidateLine);
      if (gap.length > 0) window.push(this.#note(gap, slot ?? (shown.at(-1) as Slot)));
      if (slot) window.push(slot);
    }
    this.#settle(window);
  }

  /** The window as it may be sent: no result without its call, and within the budget whatever it takes. */
  #settle(slots: readonly Slot[]): void {
    const called = withoutLostCalls(slots, this.#tokensOf);
    const paired = withoutLostResults(called, (callId) => this.#answered.has(callId), this.#tokensOf);
    this.#window = [...rescue(paired, this.#budget.tokens - this.#budget.system, this.#tokensOf)];
    this.#tokens = this.#budget.system + sizeOf(this.#window);
  }

  #note(lines: readonly CandidateLine[], before: Slot): Slot {
    const text = ["[Extract of earlier steps; lines verbatim]"];
    let seq = 0;
    for (const line of lines) {
      if (line.seq !== seq) text.push(`[#${line.seq} ${this.#shelf.headingOf(line.seq)}]`);
      seq = line.seq;
      text.push(line.text);
    }
    const message: Message = { role: "user", parts: [{ type: "text", text: text.join("\n") }] };
    const first = (lines[0] as CandidateLine).seq;
    return { seq: first, at: before.at, message, tokens: this.#tokensOf(message), isNote: true };
  }

  #changed(slot: Slot, message: Message): Slot {
    return { ...slot, message, original: slot.original ?? slot.message, tokens: this.#tokensOf(message) };
  }

  /** The first one and as many of the latest as the users' share could ever hold, twice over. */
  #rememberUser(slot: Slot): void {
    this.#users.push(slot);
    const most = this.#budget.tokens * this.#options.users * 2;
    while (this.#users.length > 2 && sizeOf(this.#users) > most) this.#users.splice(1, 1);
  }
}

/** True for what a person said; results of tools come in the user's name in some formats. */
function isUsers({ message, isNote }: Slot): boolean {
  return message.role === "user" && !isNote && !message.parts.some((part) => part.type === "tool-result");
}

function slotsIn(slots: readonly Slot[], group: Group | undefined): readonly Slot[] {
  return group ? slots.slice(group.from, group.to + 1) : [];
}
