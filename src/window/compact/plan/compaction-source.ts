import { checkFields, checkKind } from "../../../model/argument-checks.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { MessageInput } from "../../../model/message.ts";
import { groupSlots } from "../../group.ts";
import { isSystem } from "../../is-system.ts";
import type { Stretch } from "../../session/line-places.ts";
import { createHeldTest, findHeldSeq, type LoadedWindow } from "../../session/load-window.ts";
import type { Slot } from "../../slot.ts";

/** Messages that a compaction must not touch. */
export interface KeepOptions {
  /** Number of messages at the end to keep; more if a call would lose its result. Default 3. */
  readonly lastMessages?: number;
}

/** The content that an automatic compaction spares after a person's undo. */
export interface SparingOptions {
  /** "held": content that came back; "shown": also everything else that the window showed then. Default: none. */
  readonly spares?: "shown" | "held" | undefined;
}

/** Marks on a window that affect a compaction. */
interface CompactionMarks extends Partial<Pick<LoadedWindow, "held" | "places">> {
  readonly pins: ReadonlySet<number>;
  readonly summaries: ReadonlySet<number>;
  /** Stretch of messages after the opening that were too many to read. */
  readonly unread?: Stretch | undefined;
}

/** The part of a session to summarize. */
export interface CompactionSource {
  /** Messages since the last summary, except those that stay. */
  readonly slots: readonly Slot[];
  /** The summary of everything before them. */
  readonly previous?: Slot;
  /**
   * The stretches that the new summary replaces: includes the old summary, excludes pins, system messages and the
   * latest reply.
   */
  readonly stretches: readonly Stretch[];
}

const LAST_MESSAGES = 3;

/**
 * The part of a window that can be summarized: everything between the user's first request and the last messages, at
 * group boundaries. Undefined if there is nothing new since the last summary. `slots` are the original messages with
 * lasting edits applied.
 */
export function findCompactionSource(
  slots: readonly Slot[],
  marks: CompactionMarks,
  keep: KeepOptions & SparingOptions = {},
): CompactionSource | undefined {
  const end = findEnd(slots, keep.lastMessages ?? LAST_MESSAGES);
  const first = slots.findIndex(({ message, seq }) => message.role === "user" && !marks.summaries.has(seq));
  const previousIndex = slots.findLastIndex(({ seq }, index) => index < end && marks.summaries.has(seq));
  const start = Math.max(first, previousIndex) + 1;
  const system = slots.filter(isSystem).map(({ seq }) => seq);
  const spared = new Set([
    ...marks.pins,
    ...system,
    ...findLatestReply(slots),
    ...findHeld(slots, marks, keep.spares),
  ]);
  const source = slots.slice(start, end).filter(({ seq }) => !spared.has(seq));
  const previous = slots[previousIndex];
  const last = slots[end - 1];
  if (source.length === 0 || !last) return undefined;
  const from = Math.min(
    (previous ?? (source[0] as Slot)).seq,
    marks.unread?.from ?? Number.POSITIVE_INFINITY,
  );
  const pins = slots.filter(({ seq }) => spared.has(seq) && from <= seq && seq <= last.seq);
  const stretches = splitAround(
    { from, to: last.seq },
    pins.map(({ seq }) => seq),
  );
  const replaced = [...source, ...(previous ? [previous] : [])];
  return {
    slots: source,
    ...dropUndefined({ previous }),
    // Between messages that stay there may be entries of other kinds, which no window shows.
    stretches: stretches.filter(
      (stretch) =>
        (marks.unread && marks.unread.from <= stretch.to && stretch.from <= marks.unread.to) ||
        replaced.some(({ seq }) => stretch.from <= seq && seq <= stretch.to),
    ),
  };
}

/** Places of messages to spare because a person has brought content back. */
function findHeld(
  slots: readonly Slot[],
  { held = [], places, summaries }: CompactionMarks,
  spares: SparingOptions["spares"],
): readonly number[] {
  if (!spares || held.length === 0 || !places) return [];
  const isHeld = createHeldTest({ held, places });
  const shownSeq = spares === "shown" ? findHeldSeq({ held, places }) : 0;
  return slots.flatMap(({ seq }) => (!summaries.has(seq) && (isHeld(seq) || seq <= shownSeq) ? [seq] : []));
}

/** Places of the latest assistant message with its results, which stays no matter how many messages follow it. */
function findLatestReply(slots: readonly Slot[]): readonly number[] {
  const latest = slots.findLastIndex(({ message }) => message.role === "assistant");
  const group = groupSlots(slots).find(({ from, to }) => from <= latest && latest <= to);
  return group ? slots.slice(group.from, group.to + 1).map(({ seq }) => seq) : [];
}

/** Index of the first slot that stays at the end. */
function findEnd(slots: readonly Slot[], count: number): number {
  const wanted = Math.max(0, slots.length - count);
  const group = groupSlots(slots).find(({ from, to }) => from <= wanted && wanted <= to);
  return group?.from ?? wanted;
}

function splitAround({ from, to }: Stretch, places: readonly number[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let next = from;
  for (const place of [...places].sort((a, b) => a - b)) {
    if (place > next) stretches.push({ from: next, to: place - 1 });
    next = place + 1;
  }
  return next <= to ? [...stretches, { from: next, to }] : stretches;
}

/** A parsed `/compact` command. */
export interface CompactCommand {
  /** The text after the command, if any: wishes for the summary. */
  readonly instructions?: string;
}

/** Parses `/compact` or `/compact <instructions>` on a single line; undefined for any other text. */
export function parseCompactCommand(text: string): CompactCommand | undefined {
  const match = /^\/compact(?:[^\S\r\n]+([^\r\n]*\S))?$/.exec(checkKind("text", text, "text").trim());
  if (!match) return undefined;
  return match[1] === undefined ? {} : { instructions: match[1] };
}

/** The command in a user message that consists of nothing but the command: no attachments, no tool results. */
export function findCompactCommand(message: MessageInput): CompactCommand | undefined {
  const { role, text, parts = [] } = checkFields("message", message, { text: "text?", parts: "array?" });
  if (role !== "user") return undefined;
  if (text !== undefined) return parts.length === 0 ? parseCompactCommand(text) : undefined;
  const [part, ...others] = parts;
  return part?.type === "text" && others.length === 0 ? parseCompactCommand(part.text) : undefined;
}
