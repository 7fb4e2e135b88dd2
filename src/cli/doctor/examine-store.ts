import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { findMixedSessions } from "../../histories/index.ts";
import type { SharedLoop, StoreDamage } from "../../kernel/faces/log.ts";
import { isLonghaulError, type Kernel } from "../../kernel/index.ts";
import { buildCacheReport } from "../../server/cache/cache-report.ts";
import { CACHE_CAUSES, type CacheCause } from "../../server/cache/diagnose-cache.ts";
import { findMixedConversations } from "../../server/gateway/identity/index.ts";
import { listSessions } from "../find-session.ts";
import { listDeadTasks } from "../tasks/collect-tasks.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { listLeftovers } from "./examine-computer.ts";
import type { Finding } from "./finding.ts";

const MAX_JOURNAL_BYTES = 64e6;
const HOUR_MS = 3_600_000;
const REPAIR =
  '"longhaul repair --out FOLDER" copies all readable content; "longhaul restore" brings back a backup';

const RESTORE = "restore the database from a backup of the server";

/** How the doctor reads a store. */
interface ExamineOptions {
  readonly path: string;
  /** Reads every entry and blob instead of the structure alone. */
  readonly isDeep: boolean;
  readonly signal: AbortSignal;
}

/** Examines the files, the index, the leases and the tasks of an open store. */
export async function examineStore(kernel: Kernel, options: ExamineOptions): Promise<readonly Finding[]> {
  return [
    ...(await examineDatabase(kernel, options)),
    ...(await examineBlobs(kernel)),
    ...(await examineIndex(kernel, options.path)),
    ...(await examineSkipped(kernel)),
    ...(await examineErasures(kernel)),
    ...(await examineLeases(kernel)),
    ...(await examineTasks(kernel)),
    ...(await examineCaches(kernel, options.signal)),
    ...(await examineMixtures(kernel)),
  ];
}

/** Names the sessions that hold several conversations, because an earlier version took one for another. */
async function examineMixtures(kernel: Kernel): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const add = (mixed: readonly string[], cause: string, remedy: string) => {
    const text = `${formatQuantity(mixed.length, "session")} ${cause}: ${mixed.slice(0, 3).join(", ")}`;
    if (mixed.length > 0) findings.push({ area: "histories", level: "warning", text, remedy });
  };
  add(
    await findMixedSessions(kernel, listSessions(kernel)),
    "imported from several files of the same name",
    '"longhaul import" of the files gives each its own session; then "longhaul forget" the mixed one',
  );
  add(
    await findMixedConversations(kernel, listSessions(kernel)),
    "with replies of a conversation whose id begins theirs",
    "forgetting the session erases both; its lines keep them apart, and later requests have their own sessions",
  );
  return findings;
}

const MONTH_MS = 30 * 24 * HOUR_MS;
/** Cheaper causes of a month are not worth a word. */
const MIN_DOLLARS = 1;
const MAX_CAUSES = 3;

/** Names the causes of cache misses that somebody can avoid, with their price of the last month. */
async function examineCaches(kernel: Kernel, signal: AbortSignal): Promise<readonly Finding[]> {
  const report = await buildCacheReport(kernel, listSessions(kernel), {
    since: Date.now() - MONTH_MS,
    signal,
  });
  const avoidable = report.causes.filter(
    ({ remedy, dollars }) => remedy !== undefined && dollars >= MIN_DOLLARS,
  );
  if (avoidable.length === 0) {
    const text = `${formatDollars(report.parts.misses)} of ${formatDollars(report.dollars)} for missed prompt caches in the last 30 days`;
    return report.requests === 0 ? [] : [{ area: "cache", level: "ok", text }];
  }
  return avoidable.slice(0, MAX_CAUSES).map(
    ({ cause, dollars, requests, detail, remedy = "" }): Finding => ({
      area: "cache",
      level: "warning",
      text: `${describeCause(cause, detail)}: ${formatDollars(dollars)} in the last 30 days (${formatQuantity(requests, "request")})`,
      remedy: `${remedy}; "longhaul cache" shows all causes`,
    }),
  );
}

function describeCause(cause: CacheCause, detail: string | undefined): string {
  if (cause === "system-changed" && detail?.startsWith("a date or time"))
    return "your agent puts the time into its system prompt";
  if (cause === "system-changed" && detail?.startsWith("a counter or id"))
    return "your agent puts a counter or an id into its system prompt";
  // Details may quote the system prompt, which must not reach a report for others.
  return cause === "expired" && detail !== undefined
    ? `${CACHE_CAUSES[cause].words}, mostly ${detail}`
    : CACHE_CAUSES[cause].words;
}

async function examineDatabase(kernel: Kernel, options: ExamineOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const probe = await kernel.probe().catch((error: unknown) => error);
  if (isLonghaulError(probe))
    findings.push({ area: "database", level: "problem", text: probe.message, remedy: "see the message" });
  const checked = options.isDeep
    ? await kernel.check({ signal: options.signal })
    : await kernel.check({ signal: options.signal, isStructureOnly: true });
  if (checked.damages > 0)
    findings.push({
      area: "database",
      level: "problem",
      text: `${formatQuantity(checked.damages, "damage")} found: ${checked.listed.slice(0, 3).map(describeDamage).join("; ")}`,
      remedy: (await kernel.maintenance.inspect())?.server === undefined ? REPAIR : RESTORE,
    });
  const inspection = await kernel.maintenance.inspect();
  if (inspection && inspection.journalBytes > MAX_JOURNAL_BYTES)
    findings.push({
      area: "database",
      level: "warning",
      text: `the write-ahead log has grown to ${formatBytes(inspection.journalBytes)}; some process reads for very long`,
      remedy: "end programs that hang",
      fix: async () => {
        await kernel.maintenance.checkpoint();
        return "moved the write-ahead log into the database";
      },
    });
  if (findings.length === 0) {
    const read = options.isDeep
      ? `all ${formatCount(checked.entries)} entries and ${formatCount(checked.blobs)} blobs are readable`
      : "structure sound; --deep reads every entry";
    findings.push({
      area: "database",
      level: "ok",
      text: `${inspection?.server === undefined ? "" : `${inspection.server}, `}${read}, schema ${inspection?.schemaVersion ?? "?"}, ${formatBytes(inspection?.freeBytes ?? 0)} reusable`,
    });
  }
  return findings;
}

function describeDamage({ entry, problem }: StoreDamage): string {
  return entry === undefined ? problem : `${entry}: ${problem}`;
}

async function examineBlobs(kernel: Kernel): Promise<readonly Finding[]> {
  const inspection = await kernel.maintenance.inspect();
  const missing = inspection?.missingBlobs ?? [];
  if (missing.length > 0)
    return [
      {
        area: "blobs",
        level: "problem",
        text: `${formatQuantity(missing.length, "blob is", "blobs are")} not complete, first ${missing[0]?.slice(0, 12)}`,
        remedy: "restore them from a backup, or import their conversations again",
      },
    ];
  const garbage = await kernel.collectGarbage({ dryRun: true, minAgeMs: HOUR_MS });
  const count = garbage.blobs + garbage.temporaryFiles;
  if (count > 0)
    return [
      {
        area: "blobs",
        level: "warning",
        text: `${formatQuantity(count, "blob")} that nothing refers to: ${formatBytes(garbage.blobBytes + garbage.temporaryBytes)}`,
        remedy: '"longhaul gc" removes them',
        fix: async () => {
          const freed = await kernel.collectGarbage({ minAgeMs: HOUR_MS });
          return `removed ${formatBytes(freed.blobBytes + freed.temporaryBytes)}`;
        },
      },
    ];
  return [
    {
      area: "blobs",
      level: "ok",
      text: `${formatQuantity(inspection?.blobs ?? 0, "blob")}, all complete`,
    },
  ];
}

async function examineIndex(kernel: Kernel, path: string): Promise<readonly Finding[]> {
  const problems = (await kernel.maintenance.inspect())?.indexProblems ?? [];
  if (problems.length > 0)
    return [
      {
        area: "index",
        level: "warning",
        text: `the index is damaged: ${problems[0]}`,
        remedy:
          'stop longhaul, delete memory.db, and run "longhaul index"; the index is derived from the log',
      },
    ];
  const { chunks, unindexed, unembedded } = await kernel.memory.state();
  const leftovers = await listLeftovers(path);
  const findings: Finding[] = [];
  if (leftovers.length > 0)
    findings.push({
      area: "index",
      level: "warning",
      text: `${formatQuantity(leftovers.length, "file")} left by a crash or a replaced index: ${leftovers.join(", ")}`,
      remedy: "delete them",
      fix: async () => {
        let removed = 0;
        for (const name of leftovers) {
          const { mtimeMs } = await stat(join(path, name));
          if (Date.now() - mtimeMs < HOUR_MS) continue;
          await rm(join(path, name), { force: true });
          removed++;
        }
        return `removed ${formatQuantity(removed, "file")}; younger ones than an hour stay`;
      },
    });
  if (unindexed + unembedded > 0)
    findings.push({
      area: "index",
      level: "warning",
      text: `${formatQuantity(unindexed, "entry is", "entries are")} not indexed and ${formatQuantity(unembedded, "chunk is", "chunks are")} not embedded yet`,
      remedy: '"longhaul index" completes it; recall does so by itself, a little at a time',
      fix: async () => {
        await kernel.memory.catchUp();
        return "completed the index";
      },
    });
  if (findings.length === 0)
    findings.push({ area: "index", level: "ok", text: `complete, ${formatQuantity(chunks, "chunk")}` });
  return findings;
}

/** Names what the loops over everybody's content have left out. */
async function examineSkipped(kernel: Kernel): Promise<readonly Finding[]> {
  const counts = new Map<string, { count: number; first: string }>();
  for await (const { loop, item, reason } of kernel.maintenance.skipped()) {
    const name = `${SKIPPING[loop]} (${reason})`;
    const known = counts.get(name);
    counts.set(name, { count: (known?.count ?? 0) + 1, first: known?.first ?? item });
  }
  return [...counts].map(([name, { count, first }]) => ({
    area: "index",
    level: "warning",
    text: `${formatQuantity(count, "item")} left out of ${name}, first ${first}`,
    remedy: "everything else is complete; the next version of longhaul tries these again",
  }));
}

/** Names the people whose erasure has stopped before its end. */
async function examineErasures(kernel: Kernel): Promise<readonly Finding[]> {
  const people = (await kernel.maintenance.listErasures("person ")).map((id) => id.slice("person ".length));
  return people.map((name) => ({
    area: "database",
    level: "problem",
    text: `the erasure of ${name} is not complete, or nobody has its certificate`,
    remedy: `longhaul forget --person ${JSON.stringify(name)} --yes completes it and writes the certificate`,
  }));
}

/** The purpose of each loop, in words that follow "left out of". */
const SKIPPING: Readonly<Record<SharedLoop, string>> = {
  index: "recall",
  places: "finding conversations again",
  import: "the import",
  retention: "the retention",
  estimates: "the estimates of savings",
};

async function examineLeases(kernel: Kernel): Promise<readonly Finding[]> {
  const inspection = await kernel.maintenance.inspect();
  const expired = inspection?.expiredLeases ?? [];
  if (expired.length === 0)
    return [
      {
        area: "leases",
        level: "ok",
        text: `none overdue; ${formatQuantity(inspection?.drafts ?? 0, "unfinished message")}`,
      },
    ];
  return [
    {
      area: "leases",
      level: "warning",
      text: `${formatQuantity(expired.length, "lease was", "leases were")} not returned by a process that died: ${expired
        .slice(0, 3)
        .map(({ name }) => name)
        .join(", ")}`,
      remedy: "none needed: an ended lease blocks nobody",
      fix: async () => `removed ${formatQuantity(await kernel.maintenance.dropExpiredLeases(), "lease")}`,
    },
  ];
}

async function examineTasks(kernel: Kernel): Promise<readonly Finding[]> {
  const dead = await listDeadTasks(kernel);
  if (dead.length === 0) return [{ area: "tasks", level: "ok", text: "none without a living owner" }];
  return [
    {
      area: "tasks",
      level: "warning",
      text: `the process of ${formatQuantity(dead.length, "task")} is dead: ${dead.slice(0, 3).join(", ")}`,
      remedy: '"longhaul task gc" ends them, with their programs and worktrees',
      fix: async () => {
        await kernel.tasks.recover();
        await kernel.tasks.cleaned();
        return 'ended them or left them to a process that can resume them; "longhaul task gc" ends their programs';
      },
    },
  ];
}
