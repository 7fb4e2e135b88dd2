import type { Blobs } from "../../log/blobs.ts";
import { toEntry } from "../../log/entry-body.ts";
import type { Lines } from "../../log/lines.ts";
import { hasSpilledParts } from "../../log/spilled-parts.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { Turns } from "../../model/base/turns.ts";
import {
  type Entry,
  getShownMessage,
  type MessageBody,
  type OverlayBody,
  type PinBody,
  type SessionId,
} from "../../model/entry.ts";
import { closeLine, type SeqRange } from "../../model/line.ts";
import type { Message } from "../../model/message.ts";
import type { HeldEntries, SingleEdit } from "../../model/overlay.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { listAnsweredCallIds, listCallIds } from "../../model/tool-calls.ts";
import { applyEdits, type TokenEstimator } from "../apply-edits.ts";
import { clipText } from "../clip-text.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import type { ActiveOverlay } from "./active-overlay-set.ts";
import { findActiveOverlays, findHeldEntries, readMarks } from "./find-active-overlays.ts";
import { findGaps, LinePlaces, type Stretch } from "./line-places.ts";
import { findHiddenStretches, toPlacedEdit } from "./place-edit.ts";

/** Input and limits for loading a window. */
interface LoadOptions {
  readonly session: SessionId;
  readonly entries: EntryStore;
  readonly lines: Lines;
  readonly tokensOf: TokenEstimator;
  /** Maximum tokens of messages to read; older ones count as having left the window. */
  readonly maxTokens: number;
  /** Maximum tokens of messages to read that have left the window. */
  readonly pastTokens: number;
  /** True to apply only lasting edits, which yields the conversation as policies see it before their own edits. */
  readonly isLastingOnly?: boolean;
  /** Messages that were just appended one after the other; taken unless something was written after them. */
  readonly written?: readonly Entry<MessageBody>[] | undefined;
}

/** A session's window as its log and overlays define it. */
export interface LoadedWindow {
  /** Seq of the last entry that was read; `lineSeq` is the seq of the active line. */
  readonly head: number;
  readonly lineSeq: number;
  readonly places: LinePlaces;
  readonly line: Stretch;
  readonly slots: readonly Slot[];
  /** Estimated tokens of the line's messages without any edit, as far as they were read. */
  readonly lineTokens: number;
  /** Messages that have left the window, oldest first. */
  readonly past: readonly Slot[];
  /** True if more messages have left the window before those of `past`. */
  readonly isPastCut: boolean;
  /** Stretch of messages that were too many to read; the next plan must remove them. */
  readonly unread: Stretch | undefined;
  readonly overlays: readonly ActiveOverlay[];
  /** Stretches that lasting edits hide. */
  readonly lastingHidden: readonly Stretch[];
  readonly pins: ReadonlySet<number>;
  /** Entries that people have brought back; they leave the window last. */
  readonly held: readonly HeldEntries[];
  /** Places of lasting summaries. */
  readonly summaries: ReadonlySet<number>;
}

/** Maximum number of messages searched for the first user message. */
const MAX_OPENING_MESSAGES = 200;
const BATCH = 64;

/** Loads a window. Memory use depends on the window, not on the length of the session. */
export async function loadWindow(options: LoadOptions): Promise<LoadedWindow> {
  const { session, entries, lines, tokensOf } = options;
  const { seq: head } = await entries.head(session);
  const { seq: lineSeq, line } = await lines.active();
  const places = new LinePlaces(line);
  const closed = closeLine(line, head);
  const length = closed.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const start = line[0]?.from ?? 1;
  const whole = { from: start, to: start + length - 1 };

  const overlays = (await findActiveOverlays(entries, closed, places)).overlays;
  const edits = overlays.flatMap(({ edits: own, entry }) =>
    own.flatMap((edit) =>
      options.isLastingOnly && !edit.isLasting ? [] : (toPlacedEdit(edit, entry.session, places) ?? []),
    ),
  );
  const pins = await readPins(entries, closed, places);
  const hidden = findHiddenStretches(edits);
  const shown = findGaps(hidden, whole);
  const written = options.written?.at(-1)?.seq === head ? options.written : [];
  const reader = new LineReader(entries, places, { ...options, written }, indexReplacements(edits));
  const { said, unread } = await reader.readShown(shown);
  const { slots: past, isCut: isPastCut } = await reader.readNewest(
    findGaps(shown, whole),
    options.pastTokens,
  );
  const lasting = edits.filter(({ isLasting }) => isLasting);
  const base = treatAsOriginal(applyEdits(said, lasting, tokensOf));
  const slots = applyEdits(
    base.slots,
    edits.filter(({ isLasting }) => !isLasting),
    tokensOf,
  );
  return {
    head,
    lineSeq,
    places,
    line: whole,
    slots,
    lineTokens: sumSlotTokens(said) + sumSlotTokens(past),
    past: treatAsOriginal(applyEdits(past, lasting, tokensOf)).slots.filter(
      ({ seq }) => !base.summaries.has(seq),
    ),
    isPastCut,
    unread,
    overlays,
    lastingHidden: findHiddenStretches(lasting),
    pins,
    held: await findHeldEntries(entries, overlays, closed),
    summaries: base.summaries,
  };
}

/** Policies treat the result of lasting edits as the original messages. */
function treatAsOriginal(slots: readonly Slot[]) {
  const summaries = new Set(slots.flatMap(({ isNote, seq }) => (isNote ? [seq] : [])));
  const plain = slots.map(
    ({ original, isNote: _, ...slot }): Slot => ({
      ...slot,
      ...dropUndefined({ logged: original }),
    }),
  );
  return { slots: plain, summaries };
}

async function readPins(
  entries: EntryStore,
  line: readonly SeqRange[],
  places: LinePlaces,
): Promise<ReadonlySet<number>> {
  const decided = new Map<number, boolean>();
  for await (const entry of readMarks(entries, line, "pin")) {
    const { target, isPinned } = entry as Entry<PinBody>;
    const place = places.findPlace(target);
    if (place !== undefined && !decided.has(place)) decided.set(place, isPinned);
  }
  return new Set([...decided].flatMap(([place, isPinned]) => (isPinned ? [place] : [])));
}

/** Reads messages of a line. */
class LineReader {
  readonly #entries: EntryStore;
  readonly #places: LinePlaces;
  readonly #options: LoadOptions;
  readonly #findReplacements: (slot: Slot) => readonly SingleEdit[];
  readonly #turns = new Turns();

  constructor(
    entries: EntryStore,
    places: LinePlaces,
    options: LoadOptions,
    replacing: (slot: Slot) => readonly SingleEdit[],
  ) {
    this.#entries = entries;
    this.#places = places;
    this.#options = options;
    this.#findReplacements = replacing;
  }

  /** The messages of stretches; if there are too many, the newest ones and the opening up to the first user message. */
  async readShown(stretches: readonly Stretch[]) {
    const { slots, isCut } = await this.readNewest(stretches, this.#options.maxTokens);
    const newest = isCut ? slots.slice(findCutGroupEnd(slots)) : slots;
    const first = newest[0];
    if (!isCut || !first) return { said: newest, unread: undefined };
    const opening = await this.#readOpening(stretches, first.seq);
    const from = (opening.at(-1)?.seq ?? (stretches[0]?.from ?? 1) - 1) + 1;
    return { said: [...opening, ...newest], unread: { from, to: first.seq - 1 } };
  }

  /** The newest messages of stretches, oldest first, until they exceed `mostTokens`. */
  async readNewest(stretches: readonly Stretch[], mostTokens: number) {
    const slots: Slot[] = [];
    let tokens = 0;
    // Edits mostly make messages smaller, and are applied to count them only where the whole messages are too large.
    let isExact = false;
    for (const stretch of stretches.toReversed()) {
      for await (const slot of this.#readMessages(stretch, "descending")) {
        if (tokens > mostTokens && !isExact) {
          isExact = true;
          tokens = slots.reduce((sum, read) => sum + this.#estimateShown(read), 0);
        }
        if (tokens > mostTokens) return { slots: slots.reverse(), isCut: true };
        slots.push(slot);
        tokens += isExact ? this.#estimateShown(slot) : slot.tokens;
      }
    }
    return { slots: slots.reverse(), isCut: false };
  }

  /** The messages before a place, up to and including the first user message. */
  async #readOpening(stretches: readonly Stretch[], before: number): Promise<readonly Slot[]> {
    const opening: Slot[] = [];
    for (const { from, to } of stretches) {
      for await (const slot of this.#readMessages({ from, to: Math.min(to, before - 1) }, "ascending")) {
        opening.push(slot);
        if (slot.message.role === "user") return opening;
        if (opening.length === MAX_OPENING_MESSAGES) return [];
      }
    }
    return [];
  }

  async *#readMessages(stretch: Stretch, order: "ascending" | "descending"): AsyncGenerator<Slot> {
    const ranges = this.#places.toRanges(stretch);
    for (const range of order === "ascending" ? ranges : ranges.toReversed()) {
      let { from, to } = range;
      if (order === "descending" && range.session === this.#options.session) {
        for (const entry of this.#options.written?.toReversed() ?? []) {
          if (entry.seq !== to || to < from) continue;
          yield this.#toSlot(entry);
          to = entry.seq - 1;
          const resting = this.#turns.rest();
          if (resting) await resting;
        }
      }
      while (from <= to) {
        const query = { from, to, limit: BATCH, order, kinds: ["message", "redacted"] } as const;
        const found = await this.#entries.read(range.session, query);
        for (const stored of found) {
          const entry = toEntry(range.session, stored);
          const message = getShownMessage(entry);
          const slot = message && this.#toSlot({ ...entry, message });
          // The remains of an erased message replace the words that a caller may still have.
          if (slot) yield entry.kind === "redacted" ? { ...slot, logged: slot.message } : slot;
          const resting = this.#turns.rest();
          if (resting) await resting;
        }
        const last = found.at(-1);
        if (!last || found.length < BATCH) break;
        if (order === "ascending") from = last.seq + 1;
        else to = last.seq - 1;
      }
    }
  }

  /** Counts a message after its edits: a window may contain many large results that are reduced to stubs. */
  #estimateShown(slot: Slot): number {
    const edits = this.#findReplacements(slot);
    if (edits.length === 0) return slot.tokens;
    return applyEdits([slot], edits, this.#options.tokensOf)[0]?.tokens ?? 0;
  }

  #toSlot(entry: MessageEntry): Slot {
    return toSlot(entry, this.#places, this.#options);
  }
}

/**
 * Index after the last of the oldest messages that answers an unread call, because calls and results belong together.
 */
function findCutGroupEnd(slots: readonly Slot[]): number {
  const called = new Set<string>();
  let end = 0;
  for (const [index, { message }] of slots.slice(0, Math.min(BATCH, slots.length / 2)).entries()) {
    if (listAnsweredCallIds(message).some((callId) => !called.has(callId))) end = index + 1;
    for (const callId of listCallIds(message)) called.add(callId);
  }
  return end;
}

/** Returns a function that finds the edits replacing parts of a slot. */
function indexReplacements(edits: readonly SingleEdit[]): (slot: Slot) => readonly SingleEdit[] {
  const byPlace = new Map<number | string, SingleEdit[]>();
  for (const edit of edits) {
    if (edit.type !== "replace") continue;
    const key = "callId" in edit.target ? edit.target.callId : edit.target.seq;
    const known = byPlace.get(key);
    if (known) known.push(edit);
    else byPlace.set(key, [edit]);
  }
  if (byPlace.size === 0) return () => [];
  return ({ seq, message }) =>
    [seq, ...listAnsweredCallIds(message)].flatMap((key) => byPlace.get(key) ?? []);
}

/** An entry with the message that a window shows for it. */
type MessageEntry = Pick<Entry<MessageBody>, "session" | "seq" | "at" | "message">;

/** Converts a message entry of the line to a slot. */
export function toSlot(
  { session, seq, at, message }: MessageEntry,
  places: LinePlaces,
  own: { readonly session: SessionId; readonly tokensOf: TokenEstimator },
): Slot {
  const place = places.findPlace({ session, seq }) ?? seq;
  const cite = session === own.session ? `#${seq}` : `${session}#${seq}`;
  return {
    seq: place,
    at,
    message,
    tokens: own.tokensOf(message),
    ...(cite !== `#${place}` && { cite }),
  };
}

/** A test for the places of a window that a person has brought back. */
export function createHeldTest({
  held,
  places,
}: Pick<LoadedWindow, "held" | "places">): (seq: number) => boolean {
  const stretches = held.flatMap(({ ranges }) => places.toStretches(ranges));
  return (seq) => stretches.some(({ from, to }) => from <= seq && seq <= to);
}

/** The place where a person last brought content back; 0 if nobody did. */
export function findHeldSeq({ held, places }: Pick<LoadedWindow, "held" | "places">): number {
  return Math.max(0, ...held.map(({ revert }) => places.findPlace(revert) ?? 0));
}

/** Reasons of page overlays begin with this. */
export const PAGE_REASON = "brought back";

/**
 * True if content may have left the window. Pages and shortened tool results do not count: they leave nothing out that
 * the window does not show elsewhere.
 */
export function hasRemovedContent({ overlays, unread }: LoadedWindow): boolean {
  return (
    unread !== undefined ||
    overlays.some(({ entry, edits }) => {
      if (entry.edit.type === "plan" && entry.edit.isWhole) return edits.length > 0;
      return edits.some((edit) => edit.type !== "replace") && !isPageOverlay(entry);
    })
  );
}

/** True for an overlay that stores a page. */
export function isPageOverlay({ reason, edit }: Pick<Entry<OverlayBody>, "reason" | "edit">): boolean {
  return edit.type === "plan" && edit.isWhole !== true && reason.startsWith(PAGE_REASON);
}

/** The overlay that a page of the window comes from. */
export function findPageOverlay(
  { overlays }: LoadedWindow,
  { message }: Slot,
): Entry<OverlayBody> | undefined {
  return overlays.find(({ entry, edits }) =>
    edits.some(
      (edit) => isPageOverlay(entry) && edit.type === "summarize" && edit.messages?.includes(message),
    ),
  )?.entry;
}

/** The place of the last plan that has replaced the window as a whole; 0 if there is none. */
export function findLastPlan({ overlays }: Pick<LoadedWindow, "overlays">): number {
  const isPlan = ({ edit }: (typeof overlays)[number]["entry"]) =>
    edit.type === "plan" && edit.isWhole === true;
  return Math.max(0, ...overlays.map(({ entry, place }) => (isPlan(entry) ? place : 0)));
}

/** The messages of a window with text stored as blobs restored and clipped; media remain references. */
export async function restoreMessages(slots: readonly Slot[], blobs: Blobs): Promise<readonly Message[]> {
  const restore = async (part: BlobPart) => clipShown(await blobs.restoreOrPreview(part), part);
  const messages: Message[] = [];
  for (const { message } of slots)
    messages.push(hasSpilledParts(message) ? await blobs.restoreMessage(message, restore) : message);
  return messages;
}

function clipShown(whole: Part, { shownCharacters }: BlobPart): Part {
  if (whole.type !== "text" || shownCharacters === undefined) return whole;
  return { ...whole, text: clipText(whole.text, shownCharacters) };
}
