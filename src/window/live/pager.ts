import { toEntry } from "../../log/body.ts";
import type { Log } from "../../log/log.ts";
import type { Entry, OverlayBody, SessionId } from "../../model/entry.ts";
import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import { closeLine } from "../../model/line.ts";
import { textOfMessage } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";
import type { RelatedStretch } from "../../model/related.ts";
import {
  chooseStretches,
  leastScore,
  MIN_CERTAINTY,
  MIN_SPECIFICITY,
  type Stretch,
} from "../paging/choose-stretches.ts";
import { MIN_PAGE_TOKENS, pageBudget } from "../paging/page-budget.ts";
import { type PageCue, pageCueOf } from "../paging/page-cue.ts";
import { isPage, type PageText, pageHeading, pageMessage } from "../paging/page-note.ts";
import type { Paging } from "../paging/paging.ts";
import type { Slot } from "../slot.ts";
import { estimateText } from "../tokens/estimate.ts";
import { marks } from "./holding-overlays.ts";
import type { LoadedWindow } from "./load-window.ts";
import { hiddenBy, placedEdit } from "./place-edit.ts";

/** Dependencies of a pager. */
export interface PagerParts {
  readonly session: SessionId;
  readonly log: Log;
  readonly paging: Paging;
  /** The model's window, in tokens. */
  readonly windowTokens: number;
}

/** Content brought back into a window. */
export interface Page {
  /** Place of the message that asked for the page. */
  readonly after: number;
  readonly slot: Slot;
  readonly edit: SingleEdit;
  readonly reason: string;
}

/** Longest text that is quoted in full; longer texts are cut to the part around the hit. */
const MAX_QUOTED_CHARACTERS = 8_000;
const MAX_OUTPUT_CHARACTERS = 1_600;
const MAX_STRETCHES = 80;
/**
 * A page for a plan or an error gets a smaller budget than one for a person's question, and needs a more specific cue.
 */
const WORK_SHARE = 1 / 8;
const WORK_SPECIFICITY = 12;
/** A search that takes longer is abandoned, and the request is sent without a page. */
const MAX_SEARCH_MS = 10_000;
const PAGED_IN = "brought back";

/**
 * Brings back content that has left a session's window when its newest message asks for it; at most once per message.
 */
export class Pager {
  readonly #parts: PagerParts;
  /** Place of the last message that was searched for. */
  #seen = 0;

  constructor(parts: PagerParts) {
    this.#parts = parts;
  }

  /** Tokens that a page at the end of this window may need; 0 if nothing asks for one. */
  wantedTokens(slots: readonly Slot[]): number {
    const cue = this.#cueOf(slots);
    return cue ? this.#budgetOf(cue) : 0;
  }

  /** Finds the page for the newest message of a window, within `roomTokens`; undefined if there is none. */
  async find(window: LoadedWindow, roomTokens: number, signal?: AbortSignal): Promise<Page | undefined> {
    const { slots } = window;
    const cue = this.#cueOf(slots);
    const asking = cue && slots[cue.index];
    if (!cue || !asking) return undefined;
    const maxTokens = Math.min(this.#budgetOf(cue), roomTokens);
    const isWanted = maxTokens >= MIN_PAGE_TOKENS && !(await this.#wasPaged(window, asking.seq));
    const found = isWanted ? await this.#search(cue, asking.seq, window, signal) : [];
    this.#seen = asking.seq;
    const texts = await this.#choose(found, window, asking.seq, maxTokens);
    if (texts.length === 0) return undefined;
    return pageOf(asking, texts, cue);
  }

  /** Makes the next call consider the newest message again. */
  forget(): void {
    this.#seen = 0;
  }

  #cueOf(slots: readonly Slot[]): PageCue | undefined {
    const cue = pageCueOf(slots);
    const asking = cue && slots[cue.index];
    if (!asking || asking.seq <= this.#seen) return undefined;
    return slots.some((slot) => isPage(slot) && slot.seq > asking.seq) ? undefined : cue;
  }

  #budgetOf({ kind }: PageCue): number {
    const budget = pageBudget(this.#parts.windowTokens);
    return kind === "question" ? budget : budget * WORK_SHARE;
  }

  /** True if a message already had a page, even if it was reverted; a page is never built twice. */
  async #wasPaged({ places, head, line }: LoadedWindow, place: number): Promise<boolean> {
    const { entries } = this.#parts.log.store;
    for (const range of places.rangesOf({ from: place, to: line.to }).toReversed()) {
      const closed = closeLine([range], head);
      for await (const entry of marks(entries, closed, "overlay"))
        if (isPageOverlay(entry as Entry<OverlayBody>)) return true;
    }
    return false;
  }

  async #search(
    { question, kind }: PageCue,
    asking: number,
    { places, line }: LoadedWindow,
    signal: AbortSignal | undefined,
  ): Promise<readonly RelatedStretch[]> {
    const sessions = [...new Set(places.rangesOf(line).map(({ session }) => session))];
    const before = places.at(asking);
    const timeout = AbortSignal.timeout(MAX_SEARCH_MS);
    try {
      const { stretches, specificity, certainty } = await this.#parts.paging.related(question, sessions, {
        ...(before && { before }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const least = kind === "question" ? MIN_SPECIFICITY : WORK_SPECIFICITY;
      return specificity < least || certainty < MIN_CERTAINTY ? [] : stretches;
    } catch (error) {
      throwIfAborted(signal);
      // A page is optional: if memory fails or takes too long, the request is sent without one.
      if (timeout.aborted || isLonghaulError(error)) return [];
      throw error;
    }
  }

  /** True if the text is part of a message's text, and not of its reasoning or tool calls. */
  async #isSaid({ session, seq }: Place, text: string): Promise<boolean> {
    const stored = await this.#parts.log.store.entries.get(session, seq);
    if (stored?.kind !== "message") return false;
    const entry = toEntry(session, stored);
    if (entry.kind !== "message") return false;
    return entry.message.parts.some(
      (part) =>
        (part.type === "text" && part.text.includes(text)) || (part.type === "blob" && part.of === "text"),
    );
  }

  async #choose(
    found: readonly RelatedStretch[],
    window: LoadedWindow,
    before: number,
    maxTokens: number,
  ): Promise<readonly (PageText & { readonly place: number; readonly entry: Place })[]> {
    const isWhole = ({ seq, isNote, original, message }: Slot) =>
      !isNote && !window.summaries.has(seq) && (!original || original === message);
    const whole = new Set(window.slots.flatMap((slot) => (isWhole(slot) ? [slot.seq] : [])));
    const notes = window.slots.flatMap(({ isNote, message }) => (isNote ? [textOfMessage(message)] : []));
    const texts = new Set(window.slots.map(({ message }) => textOfMessage(message)));
    const removed = hiddenByOthers(window);
    const read: (PageText & Stretch & { readonly place: number; readonly entry: Place })[] = [];
    const seen = new Set<number>();
    let least = Number.NEGATIVE_INFINITY;
    for (const stretch of found) {
      const { session, seq, author, at, score } = stretch;
      const place = window.places.of({ session, seq });
      if (place === undefined || place >= before || seen.has(place) || score < least) continue;
      if (removed.some(({ from, to }) => from <= place && place <= to)) continue;
      if (seen.size === MAX_STRETCHES) break;
      seen.add(place);
      const maxCharacters = author === "tool" ? MAX_OUTPUT_CHARACTERS : MAX_QUOTED_CHARACTERS;
      const text = (await stretch.read(maxCharacters)) ?? "";
      if (author !== "tool" && !(await this.#isSaid({ session, seq }, text))) continue;
      const isShown = whole.has(place) || texts.has(text) || notes.some((note) => note.includes(text));
      if (read.length === 0) least = leastScore({ score, isShown });
      const cite = session === this.#parts.session ? `#${seq}` : `${session}#${seq}`;
      const heading = pageHeading({ cite, author, at });
      const tokens = estimateText(`${heading}\n${text}\n\n`);
      const entry = { session, seq };
      read.push({ cite, author, at, text, score, characters: text.length, tokens, isShown, place, entry });
    }
    const chosen = chooseStretches(read, maxTokens - MIN_PAGE_TOKENS);
    return chosen
      .map((index) => read[index] as (typeof read)[number])
      .filter(({ text }) => text.trim() !== "")
      .sort((one, other) => one.place - other.place);
  }
}

/** True for an overlay that stores a page. */
export function isPageOverlay({ reason, edit }: Pick<Entry<OverlayBody>, "reason" | "edit">): boolean {
  return edit.type === "plan" && edit.isWhole !== true && reason.startsWith(PAGED_IN);
}

/** Stretches that people or clients removed from the window themselves; pages must not bring them back. */
function hiddenByOthers({ overlays, places }: LoadedWindow): readonly { from: number; to: number }[] {
  return overlays.flatMap(({ entry, edits }) =>
    entry.author === "longhaul"
      ? []
      : hiddenBy(edits.flatMap((edit) => placedEdit(edit, entry.session, places) ?? [])),
  );
}

function pageOf(
  asking: Slot,
  texts: readonly (PageText & { readonly entry: Place })[],
  { kind }: PageCue,
): Page {
  const message = pageMessage(texts);
  const after = asking.seq;
  const slot: Slot = {
    seq: after + 1,
    at: asking.at,
    message,
    tokens: 0,
    isNote: true,
  };
  const cause = { question: "the question", plan: "the plan", error: "the error" }[kind];
  const entries = texts.length === 1 ? "1 entry" : `${texts.length} entries`;
  return {
    after,
    slot,
    edit: {
      type: "summarize",
      ranges: [{ session: "", from: after + 1, to: after }],
      messages: [message],
      quotes: texts.map(({ entry }) => entry),
    },
    reason: `${PAGED_IN}: ${entries} related to ${cause} in ${asking.cite ?? `#${after}`}`,
  };
}
