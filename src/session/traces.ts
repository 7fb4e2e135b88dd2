import { toEntry } from "../log/entry-body.ts";
import type { Entry, OverlayBody, Place, SessionId } from "../model/entry.ts";
import { flattenParts } from "../model/message.ts";
import type { SingleEdit } from "../model/overlay.ts";
import type { EntryStore } from "../store/entry-store.ts";
import type { Store } from "../store/store.ts";

const BATCH = 64;

/** Overlays of a session that refer to one of the entries and contain text, which may quote them. */
export async function findTraces(
  entries: EntryStore,
  session: SessionId,
  places: readonly Place[],
): Promise<readonly Place[]> {
  const traces: Place[] = [];
  const { seq: head } = await entries.head(session);
  for (
    let from = places.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY);
    from <= head;
  ) {
    const query = { from, to: head, limit: BATCH, order: "ascending", kinds: ["overlay"] } as const;
    const found = await entries.read(session, query);
    for (const stored of found) {
      const entry = toEntry(session, stored);
      // A damaged overlay may quote any of the entries.
      if (entry.kind !== "overlay" || isQuoting(entry, places)) traces.push({ session, seq: entry.seq });
    }
    const last = found.at(-1);
    if (!last || found.length < BATCH) break;
    from = last.seq + 1;
  }
  return traces;
}

function isQuoting(overlay: Entry<OverlayBody>, places: readonly Place[]): boolean {
  return hasText(overlay) && places.some((place) => isAbout(overlay, place));
}

/** Whether an overlay contains text; receipts do, because they name removed content. */
function hasText({ edit, receipt }: Entry<OverlayBody>): boolean {
  return receipt !== undefined || listSingleEdits(edit).some(({ type }) => type !== "hide");
}

function isAbout({ edit, session }: Entry<OverlayBody>, place: Place): boolean {
  return listSingleEdits(edit).some((single) => {
    if (single.type !== "replace") {
      const quotes = single.type === "summarize" ? (single.quotes ?? []) : [];
      return (
        quotes.some(({ session: own, seq }) => own === place.session && seq === place.seq) ||
        single.ranges.some(
          (range) => range.session === place.session && range.from <= place.seq && place.seq <= range.to,
        )
      );
    }
    if ("callId" in single.target) return false;
    const { seq, session: own = session } = single.target;
    return own === place.session && seq === place.seq;
  });
}

function listSingleEdits(edit: OverlayBody["edit"]): readonly SingleEdit[] {
  if (edit.type === "revert") return [];
  return edit.type === "plan" ? edit.edits : [edit];
}

/** Sessions whose title has only words of one of the entries: importers and the gateway name a session by its first request. */
export async function findQuotingTitles(
  { sessions, entries }: Store,
  places: readonly Place[],
): Promise<readonly SessionId[]> {
  const quoting: SessionId[] = [];
  for (const id of new Set(places.map(({ session }) => session))) {
    const title = collapseSpaces((await sessions.get(id))?.title ?? "");
    if (title === "") continue;
    for (const { seq } of places.filter(({ session }) => session === id)) {
      const stored = await entries.get(id, seq);
      const entry = stored && toEntry(id, stored);
      if (entry?.kind !== "message") continue;
      const texts = flattenParts(entry.message).map((part) =>
        part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "",
      );
      if (!isQuotingTitle(title, collapseSpaces(texts.join("\n")))) continue;
      quoting.push(id);
      break;
    }
  }
  return quoting;
}

/** True if a text has the title, cut off at its end or not, or all of its whole words. */
function isQuotingTitle(title: string, text: string): boolean {
  if (text.includes(title.replace(/…$/, ""))) return true;
  const words = listWords(title.replace(/[\p{L}\p{N}]*…$/u, ""));
  const own = new Set(listWords(text));
  return words.length > 0 && words.every((word) => own.has(word));
}

function listWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function collapseSpaces(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
