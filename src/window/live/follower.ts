import { Turns } from "../../base/turns.ts";
import { toEntry } from "../../log/entry-body.ts";
import type { Lines } from "../../log/lines.ts";
import type { Entry, MessageBody, SessionId } from "../../model/entry.ts";
import type { EntryStore } from "../../store/entry-store.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";
import { learnFromReports } from "./learn-from-reports.ts";
import { type LoadedWindow, loadWindow, toSlot } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { WrittenMessages } from "./written-messages.ts";

/** Dependencies of a follower. */
interface FollowerDeps {
  readonly session: SessionId;
  readonly entries: EntryStore;
  readonly lines: Lines;
  readonly tokensOf: TokenEstimator;
  readonly meter: Meter;
  /** Tokens that a window may have. Must not depend on learned counts, or handles would see different windows. */
  readonly maxTokens: number;
}

/** Changes since the last call of `follow`: either a newly loaded window or the messages that arrived. */
export type WindowUpdate =
  | { readonly isNew: true; readonly window: LoadedWindow }
  | { readonly isNew: false; readonly window: LoadedWindow; readonly arrived: readonly Slot[] };

/** Number of windows to read: more than a window can hold, so that a plan is certain to cut the result. */
const READ_WINDOWS = 3;
const PAST_TOKENS = 300_000;
const BATCH = 500;

/** Keeps the window of a session up to date with its log, no matter which process writes to it. */
export class Follower {
  readonly #deps: FollowerDeps;
  #window: LoadedWindow | undefined;
  #hasLearned = false;
  /** Overlays that this handle wrote and has already applied. */
  readonly #ownOverlays = new Set<number>();
  /** Messages to take instead of reading them; used once. */
  #written: WrittenMessages | undefined;

  constructor(parts: FollowerDeps) {
    this.#deps = parts;
  }

  /** Takes messages that were just appended, so that the next `follow` need not read them. */
  takeWritten(entries: readonly Entry<MessageBody>[]): void {
    this.#written = new WrittenMessages(entries, this.#deps.session);
  }

  /** Reads new entries and updates the window. */
  async follow(): Promise<WindowUpdate> {
    const known = this.#window;
    const written = this.#written;
    this.#written = undefined;
    if (!known) return { isNew: true, window: await this.#load(written) };
    const { session, entries, lines, meter } = this.#deps;
    const arrived: Slot[] = [];
    const turns = new Turns();
    let { head } = known;
    for (const entry of written?.listAfter(head) ?? []) {
      arrived.push(toSlot(entry, known.places, this.#deps));
      head = entry.seq;
      const resting = turns.rest();
      if (resting) await resting;
    }
    for (;;) {
      const query = {
        from: head + 1,
        to: Number.MAX_SAFE_INTEGER,
        limit: BATCH,
        order: "ascending",
      } as const;
      const found = await entries.read(session, query);
      for (const stored of found) {
        const entry = toEntry(session, stored);
        head = entry.seq;
        if (entry.kind === "message")
          arrived.push(toSlot(entry as Entry<MessageBody>, known.places, this.#deps));
        else if (entry.kind === "usage") meter.learn(entry);
        else if (entry.kind === "line" || entry.kind === "pin" || entry.kind === "redacted")
          return this.#reload();
        else if (entry.kind === "overlay" && !this.#ownOverlays.delete(entry.seq)) return this.#reload();
        const resting = turns.rest();
        if (resting) await resting;
      }
      if (found.length < BATCH) break;
    }
    if ((await lines.active()).seq !== known.lineSeq) return this.#reload();
    const line = { from: known.line.from, to: known.line.to + head - known.head };
    const lineTokens = known.lineTokens + sumSlotTokens(arrived);
    this.#window = { ...known, head, line, lineTokens, slots: [...known.slots, ...arrived] };
    return { isNew: false, window: this.#window, arrived };
  }

  /** Applies a plan that this handle stored. */
  applyPlan(overlay: number, slots: readonly Slot[]): void {
    this.#ownOverlays.add(overlay);
    if (this.#window) this.#window = { ...this.#window, slots, past: [], unread: undefined };
  }

  /** Applies a page or a touch-up that this handle stored: nothing else has left the window. */
  applyChange(overlay: number, slots: readonly Slot[]): void {
    this.#ownOverlays.add(overlay);
    if (this.#window) this.#window = { ...this.#window, slots };
  }

  /** The messages held in memory. */
  get held(): readonly Slot[] {
    return this.#window?.slots ?? [];
  }

  /** Makes the next `follow` load the window from scratch. */
  forget(): void {
    this.#window = undefined;
    this.#written = undefined;
    this.#ownOverlays.clear();
  }

  async #reload(): Promise<WindowUpdate> {
    this.forget();
    return { isNew: true, window: await this.#load() };
  }

  async #load(written?: WrittenMessages): Promise<LoadedWindow> {
    const { session, entries, lines, tokensOf, maxTokens: mostTokens } = this.#deps;
    if (!this.#hasLearned) {
      this.#hasLearned = true;
      await learnFromReports(entries, session, this.#deps.meter);
    }
    this.#window = await loadWindow({
      session,
      entries,
      lines,
      tokensOf,
      maxTokens: mostTokens * READ_WINDOWS,
      pastTokens: PAST_TOKENS,
      ...(written && { written }),
    });
    return this.#window;
  }
}
