import type { Kernel } from "../kernel/index.ts";
import { toNumber, toObject } from "../wire/fields.ts";
import type { FoundSource } from "./find-sources.ts";
import { surveySources } from "./import-sources.ts";
import { buildImportedSessionId } from "./importing/import-source.ts";
import { findSourcePlaces, getSystem } from "./importing/source-places.ts";
import type { Format, FormatName, ImportSource, System } from "./port/format.ts";
import { KEPT_UNTIL_DELETED, type KeepingRule } from "./port/keeping-rule.ts";

const DAY_MS = 86_400_000;

/** The conversations of one agent on this computer, compared with the store. Sub-agents belong to their conversation. */
export interface AgentHistory {
  readonly agent: FormatName;
  readonly title: string;
  readonly conversations: number;
  /** Conversations of which the store lacks some or all. */
  readonly notStored: number;
  /** Of these, how many the agent deletes within 7 and within 30 days. */
  readonly deletedWithin7Days: number;
  readonly deletedWithin30Days: number;
  readonly retention: KeepingRule;
}

export interface HistoryOptions {
  readonly system?: System;
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970; now by default. */
  readonly now?: number;
}

/** Examines the histories of all agents on this computer; without a kernel, nothing counts as stored. */
export async function examineHistories(
  kernel: Pick<Kernel, "find"> | undefined,
  { system, signal, now = Date.now() }: HistoryOptions = {},
): Promise<readonly AgentHistory[]> {
  const histories = new Map<Format, AgentHistory>();
  for (const { source, format } of await findLocalSources(system, signal)) {
    if (source.parent !== undefined) continue;
    const before = histories.get(format) ?? (await createHistory(format, system));
    const isMissing = !(kernel && (await isStored(kernel, source)));
    const { days } = before.retention;
    const left = days === undefined ? Number.POSITIVE_INFINITY : source.modifiedAt + days * DAY_MS - now;
    const count = (limit: number) => (isMissing && left <= limit * DAY_MS ? 1 : 0);
    histories.set(format, {
      ...before,
      conversations: before.conversations + 1,
      notStored: before.notStored + (isMissing ? 1 : 0),
      deletedWithin7Days: before.deletedWithin7Days + count(7),
      deletedWithin30Days: before.deletedWithin30Days + count(30),
    });
  }
  return [...histories.values()];
}

/** Finds the conversations in the folders of all agents on this computer, each once. */
export async function findLocalSources(
  system?: System,
  signal?: AbortSignal,
): Promise<readonly FoundSource[]> {
  const places = await findSourcePlaces(system);
  const paths = [...new Set(places.map(({ path }) => path))];
  return (await surveySources(paths, signal ? { signal } : {})).sources;
}

/** Tells whether the store has a conversation as it is on disk now. */
async function isStored(kernel: Pick<Kernel, "find">, source: ImportSource): Promise<boolean> {
  const record = await kernel.find(buildImportedSessionId(source));
  const storedAt = toNumber(toObject(record?.meta?.source)?.modifiedAt);
  return storedAt !== undefined && storedAt >= source.modifiedAt;
}

async function createHistory(format: Format, system: System | undefined): Promise<AgentHistory> {
  return {
    agent: format.name,
    title: format.title,
    conversations: 0,
    notStored: 0,
    deletedWithin7Days: 0,
    deletedWithin30Days: 0,
    retention: await findRetention(format, system),
  };
}

/** How long an agent keeps its conversations on this computer. */
async function findRetention(format: Format, system: System | undefined): Promise<KeepingRule> {
  return (await format.retention?.(system ?? getSystem())) ?? KEPT_UNTIL_DELETED;
}
