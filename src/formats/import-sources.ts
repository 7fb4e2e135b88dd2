import type { Kernel } from "../index.ts";
import { checkImportOptions, checkKernel } from "./check-arguments.ts";
import { type FoundSource, findSources } from "./find-sources.ts";
import { FORMATS } from "./formats.ts";
import type { ImportOptions } from "./importing/import-options.ts";
import { type ImportReport, type SourceReport, sumReports } from "./importing/import-report.ts";
import { importSource } from "./importing/import-source.ts";
import { previewSource } from "./importing/preview-source.ts";
import type { ProblemItem } from "./port/item.ts";
import { DatabaseCopies } from "./reading/source-database.ts";

/** Maximum problems in a report; its totals count all. */
const MAX_PROBLEMS = 1_000;

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
  let bytesRead = 0;
  let messages = 0;
  for (const [index, found] of survey.sources.entries()) {
    const { path } = found.source;
    const tell = () =>
      options.onProgress?.({ index, count: survey.sources.length, path, bytesRead, totalBytes, messages });
    const sourceOptions = {
      databases,
      ...(options.withOriginals && { withOriginals: true }),
      ...(options.limits && { limits: options.limits }),
      ...(options.signal && { signal: options.signal }),
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
      ? await previewSource(found, sourceOptions)
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
