import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Entry, OverlayBody, SessionId } from "../../model/entry.ts";
import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import { closeLine } from "../../model/line.ts";
import { textOfMessage } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";
import type { RelatedStretch } from "../../model/related-content.ts";
import { findPageCue, type PageCue } from "../paging/page-cue.ts";
import { buildPageHeading, buildPageMessage, isPage, type PageText } from "../paging/page-note.ts";
import type { PageSource } from "../paging/page-source.ts";
import type { Slot } from "../slot.ts";
import { estimateText } from "../tokens/estimate.ts";
import { readMarks } from "./find-active-overlays.ts";
import { isPageOverlay, type LoadedWindow, PAGE_REASON } from "./load-window.ts";
import { findHiddenStretches, toPlacedEdit } from "./place-edit.ts";

/** A stretch of the log that a page could show, with its cost. */
export interface PageStretch {
  readonly score: number;
  readonly characters: number;
  readonly tokens: number;
  /** True if the window already shows it. */
  readonly isShown: boolean;
}

/** Less specific questions are about nothing in particular. */
const MIN_SPECIFICITY = 5;

/** If less of a question is found than this, the hits are about something else. */
const MIN_CERTAINTY = 0.35;

/** Stretches count as related down to this share of the best score. */
const RELATED_SHARE = 0.3;

/** If the window already shows the best stretch, the others must reach this share of its score. */
const CLOSE_SHARES: Readonly<Record<PageCue["kind"], number>> = {
  recall: 0.6,
  question: 0.9,
  statement: 0.95,
  plan: 0.6,
  error: 0.6,
};

/** Beyond this many tokens, only clearly related stretches are added. */
const BROAD_TOKENS = 4_000;
const CLEAR_SHARE = 0.5;

/** Longer stretches must be more closely related: their score is divided by this power of their length. */
const LENGTH_POWER = 0.25;
const LENGTH_OFFSET = 100;

/** One page may take a quarter of a window up to the small size, and an eighth of a window from the large size up. */
const SMALL = { window: 32_000, share: 1 / 4 } as const;
const LARGE = { window: 200_000, share: 1 / 8 } as const;

/** A smaller page is not worth its frame. */
const MIN_PAGE_TOKENS = 120;

/** Dependencies of a pager. */
interface WindowPagerDeps {
  readonly session: SessionId;
  readonly log: Log;
  readonly pageSource: PageSource;
  /** The model's window, in tokens. */
  readonly windowTokens: number;
}

/** Content brought back into a window. */
interface WindowPage {
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

/** Words that ask for nothing get a page only so many replies after the last edit: each page is paid for. */
const CALLS_BETWEEN_PAGES = 60;

/** A text that is nothing but a question. */
const QUESTION = /^[^.!\n]{1,400}\?\s*$/;

/**
 * A page for a plan or an error may be smaller than one for a person's question, and needs a more specific cue.
 */
const WORK_SHARE = 1 / 8;
const WORK_SPECIFICITY = 12;

/** A search that takes longer is abandoned, and the request is sent without a page. */
const MAX_SEARCH_MS = 10_000;

/**
 * Brings back content that has left a session's window when its newest message asks for it; at most once per message.
 */
export class WindowPager {
  readonly #deps: WindowPagerDeps;
  /** Place of the last message that was searched for, and its line: another one may have other messages there. */
  #last: { readonly place: number; readonly line: number } | undefined;

  constructor(parts: WindowPagerDeps) {
    this.#deps = parts;
  }

  /** Finds the page for the newest message of a window, within `roomTokens`; undefined if there is none. */
  async find(
    window: LoadedWindow,
    roomTokens: number,
    signal?: AbortSignal,
  ): Promise<WindowPage | undefined> {
    const { slots } = window;
    const cue = this.#findCue(window);
    const asking = cue && slots[cue.index];
    if (!cue || !asking) return undefined;
    const growth = Math.min(roomTokens / 2, estimateTurnGrowth(slots));
    const maxTokens = Math.min(this.#computeMaxTokens(cue), roomTokens - growth);
    const isRare = cue.kind !== "statement" || countRepliesSinceEdit(window) >= CALLS_BETWEEN_PAGES;
    const isWanted = isRare && maxTokens >= MIN_PAGE_TOKENS && !(await this.#hasPage(window, asking.seq));
    const found = isWanted ? await this.#search(cue, asking.seq, window, signal) : [];
    this.#last = { place: asking.seq, line: window.lineSeq };
    const texts = await this.#choose(found, window, asking.seq, maxTokens, cue);
    if (texts.length === 0) return undefined;
    return buildPage(asking, texts, cue);
  }

  /** Makes the next call consider the newest message again. */
  forget(): void {
    this.#last = undefined;
  }

  #findCue({ slots, lineSeq }: LoadedWindow): PageCue | undefined {
    const cue = findPageCue(slots);
    const asking = cue && slots[cue.index];
    const searched = this.#last?.line === lineSeq ? this.#last.place : 0;
    if (!asking || asking.seq <= searched) return undefined;
    return slots.some((slot) => isPage(slot) && slot.seq > asking.seq) ? undefined : cue;
  }

  #computeMaxTokens({ kind }: PageCue): number {
    const most = computePageTokens(this.#deps.windowTokens);
    return kind === "plan" || kind === "error" ? most * WORK_SHARE : most;
  }

  /** True if a message already had a page, even if it was reverted; a page is never built twice. */
  async #hasPage({ places, head, line }: LoadedWindow, place: number): Promise<boolean> {
    const { entries } = this.#deps.log.store;
    for (const range of places.toRanges({ from: place, to: line.to }).toReversed()) {
      const closed = closeLine([range], head);
      for await (const entry of readMarks(entries, closed, "overlay"))
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
    const sessions = [...new Set(places.toRanges(line).map(({ session }) => session))];
    const before = places.findEntry(asking);
    const timeout = AbortSignal.timeout(MAX_SEARCH_MS);
    try {
      const { stretches, specificity, certainty } = await this.#deps.pageSource.related(question, sessions, {
        ...dropUndefined({ before }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const least = kind === "plan" || kind === "error" ? WORK_SPECIFICITY : MIN_SPECIFICITY;
      return specificity < least || certainty < MIN_CERTAINTY ? [] : stretches;
    } catch (error) {
      throwIfAborted(signal);
      // A page is optional: if memory fails or takes too long, the request is sent without one.
      if (timeout.aborted || isLonghaulError(error)) return [];
      throw error;
    }
  }

  /** True if the text is part of a message's text, and not of its reasoning or tool calls. */
  async #isMessageText({ session, seq }: Place, text: string): Promise<boolean> {
    const stored = await this.#deps.log.store.entries.get(session, seq);
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
    { kind }: PageCue,
  ): Promise<readonly (PageText & { readonly place: number; readonly entry: Place })[]> {
    const isWhole = ({ seq, isNote, original, message }: Slot) =>
      !isNote && !window.summaries.has(seq) && (!original || original === message);
    const whole = new Set(window.slots.flatMap((slot) => (isWhole(slot) ? [slot.seq] : [])));
    const notes = window.slots.flatMap(({ isNote, message }) => (isNote ? [textOfMessage(message)] : []));
    const texts = new Set(window.slots.map(({ message }) => textOfMessage(message)));
    const removed = findHiddenByOthers(window);
    const read: (PageText & PageStretch & { readonly place: number; readonly entry: Place })[] = [];
    const seen = new Set<number>();
    const askedBefore = new Set<number>();
    let least = Number.NEGATIVE_INFINITY;
    for (const stretch of found) {
      const { session, seq, author, at, score } = stretch;
      const place = window.places.findPlace({ session, seq });
      if (place === undefined || place >= before || seen.has(place) || score < least) continue;
      if (removed.some(({ from, to }) => from <= place && place <= to)) continue;
      if (seen.size === MAX_STRETCHES) break;
      seen.add(place);
      const maxCharacters = author === "tool" ? MAX_OUTPUT_CHARACTERS : MAX_QUOTED_CHARACTERS;
      const text = (await stretch.read(maxCharacters)) ?? "";
      if (author !== "tool" && !(await this.#isMessageText({ session, seq }, text))) continue;
      const isShown = whole.has(place) || texts.has(text) || notes.some((note) => note.includes(text));
      // An earlier question in the window is not an answer, however similar it is to this one; nor is its reply.
      if (isShown && author === "user" && QUESTION.test(text)) {
        const reply = window.slots.findIndex((slot) => slot.seq === place) + 1;
        if (reply > 0) askedBefore.add(window.slots[reply]?.seq ?? 0);
        continue;
      }
      if (isShown && askedBefore.has(place)) continue;
      if (read.length === 0) least = computeMinScore({ score, isShown }, kind);
      const cite = session === this.#deps.session ? `#${seq}` : `${session}#${seq}`;
      const heading = buildPageHeading({ cite, author, at });
      const tokens = estimateText(`${heading}\n${text}\n\n`);
      const entry = { session, seq };
      read.push({ cite, author, at, text, score, characters: text.length, tokens, isShown, place, entry });
    }
    const chosen = chooseStretches(read, maxTokens - MIN_PAGE_TOKENS, kind);
    return chosen
      .map((index) => read[index] as (typeof read)[number])
      .filter(({ text }) => text.trim() !== "")
      .sort((one, other) => one.place - other.place);
  }
}

const CAUSES: Readonly<Record<PageCue["kind"], string>> = {
  recall: "the question",
  question: "the question",
  statement: "the message",
  plan: "the plan",
  error: "the error",
};

/** Replies since the window was last edited or had a page. */
function countRepliesSinceEdit({ overlays, slots }: LoadedWindow): number {
  const last = Math.max(0, ...overlays.map(({ entry, place }) => (entry.author === "longhaul" ? place : 0)));
  return slots.filter(({ seq, message, isNote }) => !isNote && message.role === "assistant" && seq > last)
    .length;
}

/** Average tokens of the tool calls and results of a turn: room that the rest of the running turn may need. */
function estimateTurnGrowth(slots: readonly Slot[]): number {
  let turns = 0;
  let tokens = 0;
  for (const { message, isNote, tokens: own } of slots) {
    if (isNote) continue;
    const isStep = message.parts.some(({ type }) => type === "tool-call" || type === "tool-result");
    if (isStep) tokens += own;
    else if (message.role === "user") turns++;
  }
  return tokens / Math.max(1, turns);
}

/** Stretches that people or clients removed from the window themselves; pages must not bring them back. */
function findHiddenByOthers({ overlays, places }: LoadedWindow): readonly { from: number; to: number }[] {
  return overlays.flatMap(({ entry, edits }) =>
    entry.author === "longhaul"
      ? []
      : findHiddenStretches(edits.flatMap((edit) => toPlacedEdit(edit, entry.session, places) ?? [])),
  );
}

function buildPage(
  asking: Slot,
  texts: readonly (PageText & { readonly entry: Place })[],
  { kind }: PageCue,
): WindowPage {
  const message = buildPageMessage(texts);
  const after = asking.seq;
  const slot: Slot = {
    seq: after + 1,
    at: asking.at,
    message,
    tokens: 0,
    isNote: true,
  };
  const cause = CAUSES[kind];
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
    reason: `${PAGE_REASON}: ${entries} related to ${cause} in ${asking.cite ?? `#${after}`}`,
  };
}

/** Maximum tokens of one page in a window. */
export function computePageTokens(window: number): number {
  const position = Math.log(window / SMALL.window) / Math.log(LARGE.window / SMALL.window);
  const share = SMALL.share + (LARGE.share - SMALL.share) * Math.min(1, Math.max(0, position));
  return Math.floor(window * share);
}

/**
 * The minimum score of a stretch worth reading; `best` is the best of all, including stretches that the window shows.
 */
function computeMinScore(
  best: Pick<PageStretch, "score" | "isShown">,
  kind: PageCue["kind"] = "recall",
): number {
  return best.score * (best.isShown ? CLOSE_SHARES[kind] : RELATED_SHARE);
}

/**
 * Chooses the stretches that are worth their tokens, within a limit, and returns their indexes. Stretches in the
 * window are not shown again; if the window shows the best one, the question is assumed to be about content that never
 * left.
 */
export function chooseStretches(
  stretches: readonly PageStretch[],
  maxTokens: number,
  kind: PageCue["kind"] = "recall",
): readonly number[] {
  const best = stretches.reduce<PageStretch | undefined>(
    (found, stretch) => (found && found.score >= stretch.score ? found : stretch),
    undefined,
  );
  if (!best) return [];
  const least = computeMinScore(best, kind);
  const worthOf = ({ score, characters }: PageStretch) =>
    score / (LENGTH_OFFSET + characters) ** LENGTH_POWER;
  const ranked = [...stretches.entries()]
    .filter(([, { score, isShown }]) => !isShown && score > 0 && score >= least)
    .sort(([, one], [, other]) => worthOf(other) - worthOf(one));
  const chosen: number[] = [];
  let used = 0;
  for (const [index, { tokens, score }] of ranked) {
    const most = score >= best.score * CLEAR_SHARE ? maxTokens : Math.min(maxTokens, BROAD_TOKENS);
    if (used + tokens > most) continue;
    used += tokens;
    chosen.push(index);
  }
  return chosen;
}
