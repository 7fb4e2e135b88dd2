import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel } from "../kernel/index.ts";
import { toNumber, toObject } from "../wire/fields.ts";
import { findSettingsFolder } from "./cline/editor-folders.ts";
import type { FoundSource } from "./find-sources.ts";
import { surveySources } from "./import-sources.ts";
import { CopyRegister } from "./importing/copies.ts";
import { createDeletionTest } from "./importing/import-source.ts";
import { findSessionId } from "./importing/source-identity.ts";
import { findSourcePlaces, getSystem } from "./importing/source-places.ts";
import type { Format, FormatName, ImportSource, System } from "./port/format.ts";
import { KEPT_UNTIL_DELETED, type KeepingRule } from "./port/keeping-rule.ts";

const DAY_MS = 86_400_000;
/** Sub-agents of sub-agents; damaged files may name each other. */
const MAX_LEVELS = 24;

/** The conversations of one agent on this computer, compared with the store. Sub-agents belong to their conversation. */
export interface AgentHistory {
  readonly agent: FormatName;
  readonly title: string;
  readonly conversations: number;
  /** Conversations that the store does not have in full. Deleted ones do not count. */
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
  kernel: Pick<Kernel, "find" | "session" | "team"> | undefined,
  { system, signal, now = Date.now() }: HistoryOptions = {},
): Promise<readonly AgentHistory[]> {
  const histories = new Map<Format, AgentHistory>();
  const isDeleted = kernel && createDeletionTest(kernel);
  const copies = kernel && new CopyRegister(kernel);
  for (const parts of groupConversations(await findLocalSources(system, signal))) {
    const [{ format }] = parts;
    const before = histories.get(format) ?? (await createHistory(format, system));
    const { days = Number.POSITIVE_INFINITY } = before.retention;
    let [isMissing, left] = [false, Number.POSITIVE_INFINITY];
    for (const { source } of parts) {
      if (kernel && ((await isStored(kernel, source)) || (await isDeleted?.(source)))) continue;
      const copy = await copies?.find(source);
      if (copy && source.modifiedAt <= copy.until) continue;
      isMissing = true;
      left = Math.min(left, source.modifiedAt + days * DAY_MS - now);
    }
    const count = (limit: number) => (left <= limit * DAY_MS ? 1 : 0);
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

type Parts = readonly [FoundSource, ...FoundSource[]];

/** Groups conversations with their sub-agents; a sub-agent whose conversation was deleted stands for it. */
function groupConversations(found: readonly FoundSource[]): Iterable<Parts> {
  const parents = new Map(found.map(({ source }) => [`${source.format}/${source.id}`, source.parent]));
  const conversations = new Map<string, Parts>();
  for (const one of found) {
    let { id, parent } = one.source;
    for (let level = 0; parent !== undefined && level < MAX_LEVELS; level++)
      [id, parent] = [parent, parents.get(`${one.source.format}/${parent}`)];
    const key = `${one.source.format}/${id}`;
    const known = conversations.get(key);
    conversations.set(key, known ? [...known, one] : [one]);
  }
  return conversations.values();
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
async function isStored(kernel: Pick<Kernel, "find" | "session">, source: ImportSource): Promise<boolean> {
  const record = await kernel.find(await findSessionId(kernel, source));
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

/** Conversations on this computer that only their own agent can read. */
export interface EncryptedHistory {
  readonly title: string;
  readonly path: string;
  readonly files: number;
  readonly reason: string;
}

/** Agents that encrypt their conversations, with the folders and names of their files. */
const ENCRYPTED = [
  {
    title: "Windsurf",
    file: /\.pb$/,
    folders: ({ home }: System) => [join(home, ".codeium", "windsurf", "cascade")],
  },
  {
    title: "TRAE IDE",
    file: /^database\.db$/,
    folders: (system: System) =>
      ["Trae", "Trae CN"].map((name) => join(findSettingsFolder(system), name, "ModularData", "ai-agent")),
  },
] as const;

/** Finds conversations that cannot be imported, so that an import can say so. */
export async function findEncryptedHistories(
  system: System = getSystem(),
): Promise<readonly EncryptedHistory[]> {
  const found: EncryptedHistory[] = [];
  for (const { title, file, folders } of ENCRYPTED)
    for (const path of folders(system)) {
      const files = (await readdir(path).catch(() => [])).filter((name) => file.test(name)).length;
      const reason = `encrypted with a key that only ${title} has`;
      if (files > 0) found.push({ title, path, files, reason });
    }
  return found;
}
