import { answeredBy, callIdsOf } from "../../../model/calls.ts";
import type { Message } from "../../../model/message.ts";
import type { TokensOf } from "../../apply-edits.ts";
import { breakEvenCalls, DEFAULT_CACHE_PRICES, expectedCalls } from "../../money/break-even.ts";
import type { Budget, CachePrices, Course, Moment, PolicyRun } from "../../policy.ts";
import { protectedSeqs } from "../../protected.ts";
import { rescue } from "../../rescue.ts";
import { sizeOf } from "../../size.ts";
import type { Slot } from "../../slot.ts";
import { isToldOutput } from "../../told-output.ts";
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
  /** Messages of the window in the user's name that only tools speak in. */
  readonly #outputs = new Set<number>();
  #before: Message | undefined;
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
  /** Calls of the window as it was settled and of what has come since; undefined if it has to be settled anew. */
  #called: Set<string> | undefined;

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
    const earlier = [...(course.past ?? []), ...said];
    for (const slot of earlier.toSorted((one, other) => one.seq - other.seq)) this.#hear(slot);
    for (const slot of earlier) this.#count(slot);
    this.#extract = new Extract(this.#low - budget.system, earlier, course.isPatient === true);
  }

  digest(): void {
    this.#extract.digest();
  }

  observe(slot: Slot): void {
    this.#isNew = true;
    this.#hear(slot);
    this.#count(slot);
    this.#extract.observe(slot);
    this.#window.push(slot);
    this.#tokens += slot.tokens;
    for (const callId of callIdsOf(slot.message)) this.#called?.add(callId);
    // A result without its call has to become words.
    if (answeredBy(slot.message).some((callId) => !this.#called?.has(callId))) this.#called = undefined;
  }

  fit({ isHot }: Moment): readonly Slot[] {
    if (!this.#isNew) {
      this.reason = undefined;
      return [...this.#window];
    }
    this.#isNew = false;
    this.#calls++;
    const sent = this.#window;
    // What comes before the messages may have changed.
    this.#tokens = this.#budget.system + sizeOf(sent);
    const why = this.#whyRebuild(isHot);
    if (why !== undefined) this.#rebuild();
    else if (!this.#called) this.#settle(this.#window, new Set());
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
    const [pins, outputs] = [this.#pins, this.#outputs];
    const rules = { space, room, places, users, tail, pins, outputs, tokensOf: this.#tokensOf };
    const { shown, left } = keepGroups(slots, rules);
    for (const { seq } of left) outputs.delete(seq);
    const called = new Set(shown.flatMap(({ message }) => callIdsOf(message)));
    for (const callId of this.#answered) if (!called.has(callId)) this.#answered.delete(callId);
    const size = sizeOf(shown);
    const notes = 1 + shown.filter((slot) => isUsers(slot, outputs)).length;
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
    this.#called = new Set(this.#window.flatMap(({ message }) => callIdsOf(message)));
  }

  /** Finds out who speaks. */
  #hear({ seq, message, isNote }: Slot): void {
    if (isNote) return;
    if (isToldOutput(message, this.#before)) this.#outputs.add(seq);
    this.#before = message;
  }

  #count(slot: Slot): void {
    this.#saidTokens += slot.tokens;
    if (slot.message.role === "assistant") this.#replies++;
    if (isUsers(slot, this.#outputs) && !slot.isNote) this.#users.add(slot);
    // An id may come again: a new call is open, whatever was answered before.
    for (const callId of callIdsOf(slot.message)) this.#answered.delete(callId);
    for (const callId of answeredBy(slot.message)) this.#answered.add(callId);
  }
}
