import { type Entry, entryId, type Fitted, type OverlayBody, type WindowChange } from "../../index.ts";
import { wordsOf } from "../compacting/window-diff.ts";
import { entryWords } from "./entry-words.ts";
import type { ContextReport } from "./report.ts";

/** Builds the JSON report about a window. */
export function contextJson(report: ContextReport) {
  const { session, now, next, diff, books, pins, overlays, warnings } = report;
  const { model, policy } = report.described;
  return {
    session,
    model: model ?? null,
    policy,
    window: windowJson(now),
    ...(next && { next: { ...windowJson(next), plan: next.plan ?? null } }),
    ...(diff && { diff: diff.changes.map(changeJson), isDiffCut: diff.isCut }),
    usage: {
      session: books.total,
      days: Object.fromEntries(books.days.map(({ name, totals }) => [name, totals])),
      lastRequest: books.last ?? null,
    },
    pins: pins.map((entry) => ({
      entry: entryId(entry.session, entry.seq),
      seq: entry.seq,
      words: entryWords(entry),
    })),
    overlays: overlays.map(overlayJson),
    warnings,
  };
}

/** Serializes an overlay without the content that it adds to the window. */
export function overlayJson({ id, seq, at, kind: _, edit, ...reason }: Entry<OverlayBody>) {
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
function changeJson({ type, place, before, after }: WindowChange) {
  const role = (after ?? before)?.role ?? null;
  if (type === "stays") return { type, place, role };
  return {
    type,
    place,
    role,
    ...(before && { before: wordsOf(before) }),
    ...(after && { after: wordsOf(after) }),
  };
}

function windowJson({ tokens, parts, limits, cache, messages }: Fitted) {
  return { tokens, messages: messages.length, parts, limits, cache };
}
