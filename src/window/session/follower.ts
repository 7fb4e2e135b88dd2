import { toEntry } from "../../log/entry-body.ts";
import type { Lines } from "../../log/lines.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { Turns } from "../../model/base/turns.ts";
import type { Entry, MessageBody, OverlayBody, SessionId, UsageBody } from "../../model/entry.ts";
import type { Message } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import { applyEdits, type TokenEstimator } from "../apply-edits.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { isPageOverlay, type LoadedWindow, loadWindow, toSlot } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { toPlacedEdit } from "./place-edit.ts";

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
export const READ_WINDOWS = 3;
const PAST_TOKENS = 300_000;
const BATCH = 500;

/** The window with one more overlay in effect; undefined if only the log can tell. */
function applyOverlay(
  window: LoadedWindow,
  { entry, place }: { readonly entry: Entry<OverlayBody>; readonly place: number },
  { tokensOf }: Pick<FollowerDeps, "tokensOf">,
): LoadedWindow | undefined {
  const { edit, session, seq } = entry;
  const read = seq === window.head + 1 ? 1 : 0;
  const counted = {
    ...window,
    head: window.head + read,
    line: { ...window.line, to: window.line.to + read },
  };
  if (edit.type === "revert") {
    const { overlay: target, session: own = session } = edit;
    const page = window.overlays.find((one) => one.entry.seq === target && one.entry.session === own);
    if (!page || !isPageOverlay(page.entry)) return undefined;
    const messages = new Set(listNotes(page.edits));
    return {
      ...counted,
      slots: window.slots.filter(({ message }) => !messages.has(message)),
      overlays: [...window.overlays.filter((one) => one !== page), { place, entry, edits: [] }],
    };
  }
  if (edit.type !== "plan" || edit.isWhole) return undefined;
  const edits = edit.edits.flatMap((one) => toPlacedEdit(one, session, window.places) ?? []);
  return {
    ...counted,
    slots: applyEdits(window.slots, edits, tokensOf),
    overlays: [...window.overlays, { place, entry, edits: edit.edits }],
  };
}

function listNotes(edits: readonly SingleEdit[]): readonly Message[] {
  return edits.flatMap((edit) => (edit.type === "summarize" ? (edit.messages ?? []) : []));
}

/** Keeps the window of a session up to date with its log, no matter which process writes to it. */
export class Follower {
  readonly #deps: FollowerDeps;
  #window: LoadedWindow | undefined;
  /** Overlays that this handle wrote and has already applied. */
  readonly #ownOverlays = new Set<number>();
  /** Entries to take instead of reading them, one after the other; used once. */
  #written: readonly Entry<MessageBody | UsageBody>[] = [];

  constructor(parts: FollowerDeps) {
    this.#deps = parts;
  }

  /** Takes entries that were just appended, so that the next `follow` need not read them. */
  takeWritten(entries: readonly Entry<MessageBody | UsageBody>[]): void {
    const { session } = this.#deps;
    const earlier = this.#written.length < BATCH ? this.#written : [];
    const isNext = earlier.at(-1)?.seq === (entries[0]?.seq ?? 0) - 1;
    this.#written = isNext ? [...earlier, ...entries] : entries;
    let seq = this.#written[0]?.seq ?? 0;
    // Those with gaps between them are left to the store.
    for (const entry of this.#written)
      if (entry.session !== session || entry.seq !== seq++) this.#written = [];
  }

  /** Reads new entries and updates the window. */
  async follow(): Promise<WindowUpdate> {
    const known = this.#window;
    const written = this.#written;
    this.#written = [];
    if (!known)
      return { isNew: true, window: await this.#load(written.filter((entry) => entry.kind === "message")) };
    const { session, entries, lines, meter } = this.#deps;
    const arrived: Slot[] = [];
    const turns = new Turns();
    let { head } = known;
    for (const entry of written[0]?.seq === head + 1 ? written : []) {
      if (entry.kind === "usage") meter.learn(entry);
      else arrived.push(toSlot(entry, known.places, this.#deps));
      head = entry.seq;
      const resting = turns.rest();
      if (resting) await resting;
    }
    // Most turns bring nothing else; the head in memory tells so without a read.
    let isEnd = entries.peekHead?.(session)?.seq === head;
    while (!isEnd) {
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
      isEnd = found.length < BATCH;
    }
    if ((await lines.active()).seq !== known.lineSeq) return this.#reload();
    const line = { from: known.line.from, to: known.line.to + head - known.head };
    const lineTokens = known.lineTokens + sumSlotTokens(arrived);
    this.#window = { ...known, head, line, lineTokens, slots: [...known.slots, ...arrived] };
    return { isNew: false, window: this.#window, arrived };
  }

  /** True for an overlay that this handle wrote and has applied. */
  isOwn(overlay: number): boolean {
    return this.#ownOverlays.has(overlay);
  }

  /**
   * Applies an overlay that this handle stored, so that the window equals the one that a new handle loads. A page, a touch-up
   * and the end of a page change the window in memory; after any other overlay the window is loaded again. `slots` are
   * those of a touch-up.
   */
  async apply(entry: Entry<OverlayBody>, slots?: readonly Slot[]): Promise<LoadedWindow> {
    const known = this.#window;
    const place = known?.places.findPlace(entry);
    const next = known && place !== undefined ? applyOverlay(known, { entry, place }, this.#deps) : undefined;
    if (!next) return (await this.#reload()).window;
    this.#window = slots ? { ...next, slots } : next;
    if (next.head !== entry.seq) this.#ownOverlays.add(entry.seq);
    return this.#window;
  }

  /** The messages held in memory. */
  get held(): readonly Slot[] {
    return this.#window?.slots ?? [];
  }

  /** Makes the next `follow` load the window from scratch. */
  forget(): void {
    this.#window = undefined;
    this.#written = [];
    this.#ownOverlays.clear();
  }

  async #reload(): Promise<WindowUpdate> {
    this.forget();
    return { isNew: true, window: await this.#load() };
  }

  async #load(written: readonly Entry<MessageBody>[] = []): Promise<LoadedWindow> {
    const { session, entries, lines, tokensOf, maxTokens: mostTokens } = this.#deps;
    await this.#deps.meter.readReports(entries, session);
    this.#window = await loadWindow({
      session,
      entries,
      lines,
      tokensOf,
      maxTokens: mostTokens * READ_WINDOWS,
      pastTokens: PAST_TOKENS,
      written,
    });
    return this.#window;
  }
}
