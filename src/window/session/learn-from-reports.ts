import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import type { SessionId } from "../../model/entry.ts";
import { MAX_REPORTS, type Meter } from "./meter.ts";

const REPORTS_WITHIN = 2_000;

/** Teaches a meter the latest usage reports of a session. */
export async function learnFromReports(entries: EntryStore, session: SessionId, meter: Meter): Promise<void> {
  const { seq: head } = await entries.head(session);
  const found = await entries.read(session, {
    from: Math.max(1, head - REPORTS_WITHIN),
    to: head,
    limit: MAX_REPORTS,
    order: "descending",
    kinds: ["usage"],
  });
  meter.learnAll(
    found.toReversed().flatMap((stored) => {
      const entry = toEntry(session, stored);
      return entry.kind === "usage" ? [entry] : [];
    }),
  );
}
