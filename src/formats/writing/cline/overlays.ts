import type { Entry, OverlayBody, SeqRange } from "../../../index.ts";
import type { ExportedSession } from "../writer.ts";

/** Returns the overlays on the session's line that were not reverted, oldest first. */
export async function overlaysOf(session: ExportedSession): Promise<readonly Entry<OverlayBody>[]> {
  const overlays = new Map<number, Entry<OverlayBody>>();
  for await (const entry of session.entries("line")) {
    if (entry.kind !== "overlay") continue;
    if (entry.edit.type === "revert") overlays.delete(entry.edit.overlay);
    else overlays.set(entry.seq, entry);
  }
  return [...overlays.values()];
}

/** Tells whether an entry is in one of the ranges. */
export function isIn({ session, seq }: Pick<Entry, "session" | "seq">, ranges: readonly SeqRange[]): boolean {
  return ranges.some((range) => range.session === session && range.from <= seq && seq <= range.to);
}
