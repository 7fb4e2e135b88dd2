import { fenceWithMark } from "../base/fence.ts";
import type { CompactionResult, Session } from "../index.ts";
import { quoteLines, sanitizeName } from "../memory/text/sanitize-text.ts";

const MAX_NAMES = 12;
const MAX_SUMMARY = 6_000;

/** Compacts a session by extraction, without a model; a dry run changes nothing. Returns the effect in words. */
export async function compactInWords(
  session: Session,
  { isDryRun, signal }: { readonly isDryRun: boolean; readonly signal: AbortSignal },
): Promise<string> {
  const compacted = await session.compact({ dryRun: isDryRun, signal });
  if (!compacted) return "Nothing to do: too few new messages since the last summary.";
  return describeCompaction(session.id, compacted, isDryRun);
}

function describeCompaction(
  session: string,
  { tokens, left, summary, overlay }: CompactionResult,
  isDryRun: boolean,
): string {
  const names = left.named.slice(0, MAX_NAMES).map((name) => sanitizeName(name, 80));
  const undo = overlay === undefined ? "" : ` Undo: longhaul revert ${JSON.stringify(session)} ${overlay}`;
  return [
    `${isDryRun ? "Dry run, nothing was changed" : "Compacted"}: ${tokens.without} → ${tokens.with} tokens in the next call.${undo}`,
    `Leaves the window: ${left.entries} messages, ${left.identifiers} identifiers${names.length === 0 ? "" : `: ${names.join(", ")}`}. The log keeps all of it; expand shows it again.`,
    fenceWithMark("memory-data", quoteLines(summary.slice(0, MAX_SUMMARY).toWellFormed())),
  ].join("\n");
}
