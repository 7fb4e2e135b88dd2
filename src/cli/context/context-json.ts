import type { OverlayBody } from "../../kernel/faces/log.ts";
import { extractCarryOver, type WindowChange } from "../../kernel/faces/window.ts";
import { type Entry, type FittedWindow, formatEntryId } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { describeMessage } from "../compacting/render-window-diff.ts";
import type { ContextReport } from "./context-report.ts";
import { formatEntryExcerpt } from "./format-entry-excerpt.ts";

/** Builds the JSON report about a window. */
export function toContextJson(report: ContextReport) {
  const { session, now, next, diff, books, pins, todos, memories, overlays, warnings } = report;
  const { model, policy } = report.described;
  return {
    session,
    model: model ?? null,
    policy,
    window: toWindowJson(now),
    ...(next && { next: { ...toWindowJson(next), plan: next.plan ?? null } }),
    ...(diff && { diff: diff.changes.map(toChangeJson), isDiffCut: diff.isCut }),
    usage: {
      session: books.total,
      savings: books.savings,
      days: Object.fromEntries(books.days.map(({ name, totals }) => [name, totals])),
      lastRequest: books.last ?? null,
    },
    pins: pins.map((entry) => ({
      entry: formatEntryId(entry.session, entry.seq),
      seq: entry.seq,
      words: formatEntryExcerpt(entry),
    })),
    todos,
    memories: memories ?? null,
    overlays: overlays.map(toOverlayJson),
    warnings,
  };
}

/** Serializes an overlay without the content that it adds to the window. */
export function toOverlayJson({ id, seq, at, kind: _, edit, ...reason }: Entry<OverlayBody>) {
  return {
    overlay: id,
    seq,
    at,
    ...reason,
    type: edit.type,
    ...(edit.type === "plan" && { edits: edit.edits.length }),
  };
}

/** Serializes a change with the old and new text; a message that stays has only its place and role. */
function toChangeJson({ type, place, before, after }: WindowChange) {
  const role = (after ?? before)?.role ?? null;
  if (type === "stays") return { type, place, role };
  return dropUndefined({
    type,
    place,
    role,
    before: before ? describeMessage(before) : undefined,
    after: after ? describeMessage(after) : undefined,
  });
}

function toWindowJson({ tokens, parts, held, advice, limits, cache, messages, slots }: FittedWindow) {
  return {
    tokens,
    messages: messages.length,
    parts,
    held: held ?? [],
    advice: advice ? { ...advice, carryOver: extractCarryOver(slots) } : null,
    limits,
    cache,
  };
}
