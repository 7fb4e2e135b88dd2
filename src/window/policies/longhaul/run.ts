import type { TokensOf } from "../../apply-edits.ts";
import { answeredBy, callsOf } from "../../group.ts";
import { breakEvenCalls, DEFAULT_CACHE_PRICES, expectedCalls } from "../../money/break-even.ts";
import type { Budget, CachePrices, Course, Moment, PolicyRun } from "../../policy.ts";
import { protectedSeqs } from "../../protected.ts";
import { rescue } from "../../rescue.ts";
import { sizeOf } from "../../size.ts";
import type { Slot } from "../../slot.ts";
import { withoutLostCalls } from "../lost-calls.ts";
import { withoutLostResults } from "../lost-results.ts";
import { Extract } from "./extract.ts";
import { isUsers, keepGroups } from "./keep.ts";
import { highMark, lowMark } from "./marks.ts";
import { isExtract, withNotes } from "./notes.ts";
import type { LonghaulOptions } from "./options.ts";
import { Users } from "./users.ts";

/** One session under the policy: the window as it was sent last, what has come since, and what has left. */
export class LonghaulRun implements PolicyRun {
  readonly #options: LonghaulOptions;
  readonly #budget: Budget;
  readonly #tokensOf: TokensOf;
  readonly #prices: CachePrices;
  readonly #pins: ReadonlySet<number>;
  readonly #low: number;
  readonly #extract: Extract;
  readonly #users: Users;
  #window: Slot[];
  #tokens: number;
  /** Calls of the window that have been answered. */
  readonly #answered = new Set<string>();
  #calls: number;
  /** What was said, and in how many replies: what a call adds. */
  #saidTokens = 0;
  #replies = 0;
  reason: string | undefined;
  /** True if the window has not been fitted as it is: fitting it once more must change nothing. */
  #isNew = true;

  constructor(options: LonghaulOptions, budget: Budget, tokensOf: TokensOf, course: Course) {
    this.#options = options;
    this.#budget = budget;
    this.#tokensOf = tokensOf;
    this.#prices = course.prices ?? DEFAULT_CACHE_PRICES;
    this.#pins = course.pins ?? new Set();
    this.#low = lowMark(budget, options.low, options.target);
    this.#users = new Users(budget.tokens * options.users * 2);
    this.#window = [...(course.window ?? [])];
    this.#tokens = budget.system + sizeOf(this.#window);
    this.#calls = course.calls ?? 0;
    const said = this.#window.filter((slot) => !isExtract(slot)).map((slot) => this.#asSaid(slot));
    for (const slot of course.past ?? []) this.#count(slot);
    for (const slot of said) this.#count(slot);
    const earlier = [...(course.past ?? []), ...said];
    this.#extract = new Extract(this.#low - budget.system, earlier, course.isPatient === true);
  }

  digest(): void {
    this.#extract.digest();
  }

  observe(slot: Slot): void {
    this.#isNew = true;
    this.#count(slot);
    this.#extract.observe(slot);
    this.#window.push(slot);
    this.#tokens += slot.tokens;
  }

  fit({ isHot }: Moment): readonly Slot[] {
    if (!this.#isNew) {
      this.reason = undefined;
      return [...this.#window];
    }
    this.#isNew = false;
    this.#calls++;
    const sent = this.#window;
    const why = this.#whyRebuild(isHot);
    if (why !== undefined) this.#rebuild();
    else this.#settle(this.#window, new Set());
    const isChanged = sent.some((slot, index) => slot !== this.#window[index]);
    this.reason = why !== undefined && isChanged ? why : undefined;
    return [...this.#window];
  }

  #whyRebuild(isHot: boolean): string | undefined {
    const { tokens: most, messages = Number.POSITIVE_INFINITY, system } = this.#budget;
    if (this.#tokens > most || this.#window.length > messages) return "over the limit";
    if (!isHot) return this.#tokens > this.#low * this.#options.cold ? "the cache is cold" : undefined;
    const high = highMark(this.#low, this.#saidTokens / Math.max(1, this.#replies), this.#prices);
    if (this.#tokens <= high) return undefined;
    const needed = breakEvenCalls({
      removedTokens: this.#tokens - this.#low,
      survivingTokens: this.#low - system,
      prices: this.#prices,
    });
    const expected = expectedCalls(this.#calls);
    if (expected < needed) return undefined;
    return `pays after ${Math.max(0, Math.ceil(needed))} calls, ${expected} expected`;
  }

  #rebuild(): void {
    const { tokens, system, messages = Number.POSITIVE_INFINITY } = this.#budget;
    const { low, users, tail } = this.#options;
    const slots = this.#slotsAsSaid();
    const room = tokens - system;
    const space = this.#low - system;
    const places = Math.floor(messages * low);
    const rules = { space, room, places, users, tail, pins: this.#pins, tokensOf: this.#tokensOf };
    const { shown, left } = keepGroups(slots, rules);
    const called = new Set(shown.flatMap(({ message }) => callsOf(message)));
    for (const callId of this.#answered) if (!called.has(callId)) this.#answered.delete(callId);
    const size = sizeOf(shown);
    const notes = 1 + shown.filter(isUsers).length;
    const lines = this.#extract.replace(left, shown, {
      room: Math.min(Math.max(space - size, room * this.#options.least), room - size),
      notes,
      tokensOf: this.#tokensOf,
    });
    const window = withNotes(shown, lines, this.#tokensOf);
    let excess = window.length - messages;
    const fewer = window.filter((slot) => !isExtract(slot) || excess-- <= 0);
    this.#settle(fewer, protectedSeqs(slots, this.#pins));
  }

  /** The messages of the window as they were said, with those of the user that had left it; summaries in their places. */
  #slotsAsSaid(): readonly Slot[] {
    const bySeq = new Map<number, Slot>();
    const summaries: Slot[] = [];
    for (const slot of this.#users.slots) bySeq.set(slot.seq, slot);
    for (const slot of this.#window) {
      if (!slot.isNote) bySeq.set(slot.seq, this.#asSaid(slot));
      else if (!isExtract(slot)) summaries.push(slot);
    }
    return [...summaries, ...bySeq.values()].sort((a, b) => a.seq - b.seq);
  }

  #asSaid(slot: Slot): Slot {
    const { original, ...rest } = slot;
    return original ? { ...rest, message: original, tokens: this.#tokensOf(original) } : slot;
  }

  /** The window as it may be sent: no result without its call, and within the budget whatever it takes. */
  #settle(slots: readonly Slot[], kept: ReadonlySet<number>): void {
    const called = withoutLostCalls(slots, this.#tokensOf);
    const paired = withoutLostResults(called, (callId) => this.#answered.has(callId), this.#tokensOf);
    const most = this.#budget.tokens - this.#budget.system;
    const isKept = ({ seq, isNote }: Slot) => !isNote && kept.has(seq);
    const spared = rescue(paired, most, this.#tokensOf, isKept);
    this.#window = [...rescue(spared, most, this.#tokensOf, ({ seq }) => this.#pins.has(seq))];
    this.#tokens = this.#budget.system + sizeOf(this.#window);
  }

  #count(slot: Slot): void {
    this.#saidTokens += slot.tokens;
    if (slot.message.role === "assistant") this.#replies++;
    if (isUsers(slot) && !slot.isNote) this.#users.add(slot);
    // An id may come again: a new call is open, whatever was answered before.
    for (const callId of callsOf(slot.message)) this.#answered.delete(callId);
    for (const callId of answeredBy(slot.message)) this.#answered.add(callId);
  }
}
