import type { BodyInput } from "../kernel/faces/log.ts";
import type { Kernel } from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkImportOptions, checkKernel } from "./check-arguments.ts";
import { type FoundSource, findSources } from "./find-sources.ts";
import { FORMATS } from "./formats.ts";
import { CopyRegister } from "./importing/copies.ts";
import type { ImportOptions } from "./importing/import-options.ts";
import {
  type Counts,
  type ImportReport,
  NO_COUNTS,
  type SourceReport,
  sumReports,
} from "./importing/import-report.ts";
import { createDeletionTest, importSource, type SourceOptions } from "./importing/import-source.ts";
import { findSessionId } from "./importing/source-identity.ts";
import { SourceTrust } from "./importing/source-trust.ts";
import { OpenCalls, type RunningCounts, tallyBody, tallyCounts } from "./importing/tally.ts";
import { Input } from "./reading/input.ts";
import type { ProblemItem } from "./reading/item.ts";
import { DatabaseCopies } from "./reading/source-database.ts";

/** Maximum problems in a report; its totals count all. */
const MAX_PROBLEMS = 1_000;

/** Maximum records whose newer versions are recognized; beyond it, versions count again. */
const MAX_REMEMBERED = 100_000;

/** Conversations and problems found at paths. */
export interface Survey {
  /** Parents come before their sub-agents. */
  readonly sources: readonly FoundSource[];
  readonly problems: readonly ProblemItem[];
}

/** Finds the conversations at paths without reading them. */
export async function surveySources(
  paths: readonly string[],
  options: Pick<ImportOptions, "formats" | "since" | "signal"> = {},
): Promise<Survey> {
  checkImportOptions(options);
  const sources: FoundSource[] = [];
  const problems: ProblemItem[] = [];
  for await (const found of findSources(paths, options.formats ?? FORMATS, options.signal)) {
    if (!("source" in found)) problems.push(found);
    else if (found.source.modifiedAt >= (options.since ?? 0)) sources.push(found);
  }
  return { sources: sortParentsFirst(sources), problems };
}

/** Imports every conversation at the paths; only new records are added to earlier imports. */
export async function importSources(
  kernel: Kernel,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  checkKernel(kernel);
  const survey = await surveySources(paths, options);
  const problems: ProblemItem[] = survey.problems.slice(0, MAX_PROBLEMS);
  const reports: SourceReport[] = [];
  const totalBytes = survey.sources.reduce((total, { source }) => total + source.sizeBytes, 0);
  await using databases = new DatabaseCopies();
  const isDeleted = options.withForgotten ? undefined : createDeletionTest(kernel);
  const trust = new SourceTrust(options.system);
  const copies = options.withForgotten ? undefined : new CopyRegister(kernel);
  let bytesRead = 0;
  let messages = 0;
  for (const [index, found] of survey.sources.entries()) {
    const { path } = found.source;
    const tell = () =>
      options.onProgress?.({ index, count: survey.sources.length, path, bytesRead, totalBytes, messages });
    const { withOriginals, limits, signal, mayImportTree } = options;
    const sourceOptions = {
      ...dropUndefined({ databases, trust, copies, isDeleted, withOriginals, limits, signal, mayImportTree }),
      onBytes: (count: number) => {
        bytesRead += count;
        tell();
      },
      onMessage: () => {
        messages++;
      },
      onProblem: (problem: ProblemItem) => {
        if (problems.length < MAX_PROBLEMS) problems.push(problem);
      },
    };
    tell();
    const report = options.dryRun
      ? await previewSource(kernel, found, sourceOptions)
      : await importSource(kernel, found, sourceOptions);
    reports.push(report);
    options.onSource?.(report);
    if (report.status === "stopped") break;
  }
  return buildReport(reports, problems);
}

function buildReport(sources: readonly SourceReport[], problems: readonly ProblemItem[]): ImportReport {
  const byFormat = Map.groupBy(sources, ({ format }) => format);
  const formats = Object.fromEntries([...byFormat].map(([name, own]) => [name, sumReports(own)]));
  return { sources, formats, totals: sumReports(sources), problems };
}

/** Orders parents before their sub-agents and keeps the order otherwise. */
function sortParentsFirst(sources: readonly FoundSource[]): readonly FoundSource[] {
  const keyOf = (format: string, id: string) => `${format}\n${id}`;
  const byKey = new Map(sources.map((found) => [keyOf(found.source.format, found.source.id), found]));
  const ordered = new Set<FoundSource>();
  const visit = (found: FoundSource, above: readonly FoundSource[]) => {
    if (ordered.has(found) || above.includes(found)) return;
    const { parent, format } = found.source;
    const before = parent === undefined ? undefined : byKey.get(keyOf(format, parent));
    if (before) visit(before, [...above, found]);
    ordered.add(found);
  };
  for (const found of sources) visit(found, []);
  return [...ordered];
}

/** Reads one source and counts its content without a store. */
async function previewSource(
  kernel: Kernel,
  found: FoundSource,
  options: SourceOptions = {},
): Promise<SourceReport> {
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
    ...dropUndefined({ limits, signal, databases }),
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
    session: await findSessionId(kernel, source),
    sizeBytes: source.sizeBytes,
    status: error === undefined ? "planned" : signal?.aborted ? "stopped" : "failed",
    found: { ...counts, children: children.size },
    added: NO_COUNTS,
    openCalls: openCalls.count,
    ...seen,
    ...(error !== undefined && !signal?.aborted && { error: (error as Error).message }),
  };
}
