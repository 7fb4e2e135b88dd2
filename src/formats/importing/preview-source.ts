import type { BodyInput } from "../../log-entry.ts";
import type { FoundSource } from "../find-sources.ts";
import { Input } from "../reading/input.ts";
import { type Counts, NO_COUNTS, type SourceReport } from "./import-report.ts";
import { buildImportedSessionId, type SourceOptions } from "./import-source.ts";
import { OpenCalls, type RunningCounts, tallyBody, tallyCounts } from "./tally.ts";

/** Maximum records whose newer versions are recognized; beyond it, versions count again. */
const MAX_REMEMBERED = 100_000;

/** Reads one source and counts its content without a store. */
export async function previewSource(found: FoundSource, options: SourceOptions = {}): Promise<SourceReport> {
  const { source, format, root } = found;
  const { limits, signal, databases } = options;
  const counts = { ...NO_COUNTS };
  const versions = new Map<string, Counts>();
  const children = new Set<string>();
  const openCalls = new OpenCalls();
  const seen = { bytesRead: 0, copiedBytes: 0, lost: 0, damaged: 0 };
  const input = new Input({
    root,
    paths: source.paths,
    ...(limits && { limits }),
    ...(signal && { signal }),
    ...(databases && { databases }),
    onBytes: (count) => {
      seen.bytesRead += count;
      options.onBytes?.(count);
    },
  });
  let error: unknown;
  try {
    for await (const item of format.read(source, input)) {
      signal?.throwIfAborted();
      if (item.type === "copy") seen.copiedBytes += item.bytes;
      else if (item.type === "problem") {
        seen[item.severity]++;
        options.onProblem?.(item);
      } else if (item.type === "record") {
        if (item.child !== undefined) children.add(item.child);
        const own: RunningCounts = { ...NO_COUNTS };
        tallyBody(own, item.body as BodyInput);
        if (item.version !== undefined) {
          const key = `${item.child ?? ""}\n${item.id}`;
          const before = versions.get(key);
          if (before) tallyCounts(counts, before, -1);
          if (before || versions.size < MAX_REMEMBERED) versions.set(key, own);
        }
        tallyCounts(counts, own);
        if (item.body.kind === "message") openCalls.addMessage(item.body.message);
      }
    }
  } catch (caught) {
    error = caught;
  }
  return {
    format: source.format,
    id: source.id,
    path: source.path,
    session: buildImportedSessionId(source),
    sizeBytes: source.sizeBytes,
    status: error === undefined ? "planned" : signal?.aborted ? "stopped" : "failed",
    found: { ...counts, children: children.size },
    added: NO_COUNTS,
    openCalls: openCalls.count,
    ...seen,
    ...(error !== undefined && !signal?.aborted && { error: (error as Error).message }),
  };
}
