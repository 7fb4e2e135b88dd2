import type { Store } from "../../log/store/store.ts";

const MAX_ERASURES = 1_000;

/** Completes erasures whose process died, if the entry or session is indeed gone. */
export async function settleErasures({
  entries,
  sessions,
  memory,
}: Pick<Store, "entries" | "sessions" | "memory">): Promise<void> {
  for (const { session, seq } of await memory.expectedErasures(MAX_ERASURES)) {
    const seqs = seq === undefined ? undefined : [seq];
    const entry = seq === undefined ? undefined : await entries.get(session, seq);
    const isGone =
      seq === undefined ? !(await sessions.get(session)) : entry === undefined || entry.kind === "redacted";
    // Content that still exists may be about to be erased.
    if (!isGone) continue;
    await memory.forget({ kind: "session", name: session }, seqs);
    await memory.settleErasure(session, seqs);
  }
}
