import { toEntry } from "../../log/entry-body.ts";
import type { Entry, OverlayBody } from "../../model/entry.ts";
import type { SeqRange } from "../../model/line.ts";
import type { EntryStore } from "../../store/entry-store.ts";
import { ActiveOverlaySet } from "./active-overlay-set.ts";
import type { LinePlaces } from "./line-places.ts";

const BATCH = 64;

/** Finds the overlays of a line that are in effect, reading back no further than necessary. */
export async function findActiveOverlays(
  entries: EntryStore,
  line: readonly SeqRange[],
  places: LinePlaces,
): Promise<ActiveOverlaySet> {
  const inEffect = new ActiveOverlaySet((place) => places.findPlace(place));
  for await (const entry of readMarks(entries, line, "overlay")) {
    const place = places.findPlace(entry);
    if (place !== undefined && !inEffect.add({ place, entry: entry as Entry<OverlayBody> })) break;
  }
  const named = [...inEffect.lasting];
  for (const { session, seq } of named) {
    const place = places.findPlace({ session, seq });
    const stored = place === undefined ? undefined : await entries.get(session, seq);
    if (place === undefined || stored?.kind !== "overlay") continue;
    const entry = toEntry(session, stored);
    if (entry.kind === "overlay") for (const one of inEffect.addLasting({ place, entry })) named.push(one);
  }
  return inEffect;
}

/** Overlays or pins of a line, newest first; damaged entries are skipped. */
export async function* readMarks(
  entries: EntryStore,
  line: readonly SeqRange[],
  kind: "overlay" | "pin",
): AsyncGenerator<Entry> {
  for (const { session, from, to } of line.toReversed()) {
    let last = to;
    for (;;) {
      const query = { from, to: last, limit: BATCH, order: "descending", kinds: [kind] } as const;
      const found = await entries.read(session, query);
      for (const stored of found) {
        const entry = toEntry(session, stored);
        if (entry.kind === kind) yield entry;
      }
      const oldest = found.at(-1);
      if (!oldest || found.length < BATCH) break;
      last = oldest.seq - 1;
    }
  }
}
