import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { findBodyBlobs } from "../log/blobs.ts";
import { encodePayload } from "../log/codec.ts";
import { decodeStoredBody, writeBody } from "../log/entry-body.ts";
import { type Limits, resolveLimits } from "../log/limits.ts";
import { type MoveOptions, type MoveReport, moveStore } from "../log/migration/move-store.ts";
import type { StoredEntry } from "../log/store/entry-store.ts";
import type { Lease } from "../log/store/lease-store.ts";
import { type LedgerRow, listLedger } from "../log/store/ledger-store.ts";
import type { Store } from "../log/store/store.ts";
import { readStoreKey } from "../log/store-key.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { addFenceSecret } from "../model/base/fence.ts";
import { isPostgresUrl } from "../model/base/postgres-url.ts";
import type { Digest } from "../model/blob.ts";
import { type Clock, type Ids, randomIds, systemClock } from "../model/clock.ts";
import { checkNames } from "../model/edit-distance.ts";
import type { EntryBody, EntryKind } from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Embedder } from "../recall/embed/embedder.ts";
import type { MemoryOptions } from "../recall/open-memory.ts";
import type { BackupManifest } from "../stores/sqlite/backup/backup-manifest.ts";
import {
  type BackupOptions,
  backupSqliteStore,
  type RestoreOptions,
  type RestoreReport,
  restoreSqliteStore,
  verifyBackupFolder,
} from "../stores/sqlite/backup/backup-store.ts";
import { openSqliteStore, type RepairReport, repairSqliteStore } from "../stores/sqlite/index.ts";
import { checkTaskOptions, type TaskOptions } from "../tasks/task-options.ts";
import { genaiPrices } from "../window/models/genai-prices.ts";
import { createModelCatalog } from "../window/models/model-catalog.ts";
import type { Catalog } from "../window/models/model-facts.ts";
import type { ModelTable } from "../window/models/model-settings.ts";
import type { Configuration } from "../wire/provider/ai-sdk/provider-settings.ts";
import { Kernel } from "./kernel.ts";
import { type MonitorOptions, resolveMonitorOptions } from "./monitor/monitor-options.ts";
import type { SessionModels } from "./session/session-windows.ts";

export type { MoveOptions, MoveProgress, MoveReport } from "../log/migration/move-store.ts";
export type { BackupManifest } from "../stores/sqlite/backup/backup-manifest.ts";
export type { BackupOptions, RestoreOptions, RestoreReport } from "../stores/sqlite/backup/backup-store.ts";
export type { RepairReport } from "../stores/sqlite/index.ts";
export type { ProviderSettings } from "../wire/provider/ai-sdk/provider-settings.ts";

/** Options of a kernel; all have defaults. */
export interface KernelOptions {
  /** Folder of the embedded store; default `LONGHAUL_HOME`, else `~/.longhaul`. ":memory:" keeps nothing. */
  readonly path?: string;
  /** "process" (default): acknowledged appends survive the death of the process; "power": also a power loss. */
  readonly durability?: "process" | "power";
  /** How long to wait for writes of other processes; 30 s by default. */
  readonly busyTimeoutMs?: number;
  /**
   * Opens an existing store for reading only, even on a read-only disk; writes fail with STORE_READ_ONLY. With
   * "with-index", recall searches the index as it is instead of a copy that is brought up to date.
   */
  readonly readOnly?: boolean | "with-index";
  /**
   * The URL of a PostgreSQL database instead of a folder (`postgres://…`; without `path`, default `LONGHAUL_STORE`), or
   * a custom store, which the kernel closes.
   */
  readonly store?: Store | string;
  readonly limits?: Partial<Limits>;
  /** Options for tasks; by default, worktrees are created from the repository that contains the working directory. */
  readonly tasks?: TaskOptions;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Source of model facts; the package @pydantic/genai-prices by default. */
  readonly catalogue?: Catalog;
  /** Overrides of model facts, by model id or by an id prefix ending in "*". */
  readonly models?: ModelTable;
  /** Embedder for recall: the bundled one by default; null searches by words only. */
  readonly embedder?: Embedder | null;
  /** Configuration of providers that are referred to by id; from the environment by default. */
  readonly providers?: Configuration["providers"];
  /** Limits and interval of the memory monitor; false: it measures only on request. */
  readonly monitor?: MonitorOptions | false;
  /** Called with a sentence for people, for example when a model is unknown. */
  readonly onWarning?: (warning: string) => void;
}

const KERNEL_OPTIONS: Readonly<Record<keyof KernelOptions, true>> = {
  path: true,
  durability: true,
  busyTimeoutMs: true,
  readOnly: true,
  store: true,
  limits: true,
  tasks: true,
  clock: true,
  ids: true,
  catalogue: true,
  models: true,
  embedder: true,
  providers: true,
  monitor: true,
  onWarning: true,
};

const KERNEL_FIELDS = {
  limits: "object?",
  tasks: "object?",
  clock: "object?",
  ids: "object?",
  catalogue: "function?",
  models: "object?",
  providers: "object?",
  onWarning: "function?",
} as const;

/** Opens a kernel: one store with its sessions. */
export async function openKernel(options: KernelOptions = {}): Promise<Kernel> {
  checkNames("options", checkFields("options", options, KERNEL_FIELDS), Object.keys(KERNEL_OPTIONS));
  if (options.clock) checkFields("clock", options.clock, { now: "function" });
  if (options.ids) checkFields("ids", options.ids, { next: "function" });
  if (
    options.durability !== undefined &&
    options.durability !== "process" &&
    options.durability !== "power"
  ) {
    throw createArgumentError("durability", options.durability, '"process" or "power"');
  }
  if (
    options.path !== undefined &&
    (typeof options.path !== "string" || options.path === "" || options.path.includes("\0"))
  ) {
    throw createArgumentError("path", options.path, 'a folder or ":memory:"');
  }
  if (options.embedder) checkFields("embedder", options.embedder, { embed: "function" });
  else if (options.embedder !== undefined && options.embedder !== null)
    throw createArgumentError("embedder", options.embedder, "an embedder, or null for none");
  if (options.monitor) resolveMonitorOptions(options.monitor);
  const clock = options.clock ?? systemClock;
  const limits = resolveLimits(options.limits);
  const tasks = checkTaskOptions(options.tasks);
  const models = buildModels(options);
  const store = await chooseStore(options, clock);
  if (options.path !== ":memory:") await useStoreFences(store, clock);
  const kernel = new Kernel(store, {
    limits,
    clock,
    ids: options.ids ?? randomIds,
    models,
    memory: pickMemoryOptions(options, limits),
    monitor: options.monitor ?? {},
    tasks: { ...dropUndefined({ onWarning: options.onWarning }), ...tasks },
  });
  if (!options.readOnly) await kernel.maintenance.resume();
  return kernel;
}

/** Text that a model has seen cannot pass for recalled content, because only the store knows the secret of its fences. */
async function useStoreFences(store: Store, clock: Clock): Promise<void> {
  try {
    addFenceSecret(await readStoreKey(store, clock, "fences"));
  } catch {
    // A store that cannot be written has fences of this process only.
  }
}

/** The given store, the database that a URL names, or the embedded store in a folder. */
async function chooseStore(options: KernelOptions, clock: Clock): Promise<Store> {
  const { path, busyTimeoutMs } = options;
  const store = options.store ?? (path === undefined ? process.env.LONGHAUL_STORE || undefined : undefined);
  if (store !== undefined && typeof store !== "string")
    return checkFields("store", store, { close: "function" });
  if (store !== undefined && !isPostgresUrl(store))
    throw createArgumentError("store", store, "a store, or a URL that begins with postgres://");
  const shared = { clock, ...dropUndefined({ busyTimeoutMs }) };
  if (store !== undefined) {
    const { openPostgresStore } = await import("../stores/postgres/index.ts");
    return openPostgresStore({ url: store, ...shared, ...(options.readOnly && { isReadOnly: true }) });
  }
  return openSqliteStore({
    path: path ?? process.env.LONGHAUL_HOME ?? join(homedir(), ".longhaul"),
    ...shared,
    ...(options.readOnly && { isReadOnly: options.readOnly }),
    ...dropUndefined({ durability: options.durability }),
  });
}

/** Copies everything readable of a damaged store into a new folder; the damaged store is not changed. */
export async function repairStore(from: string, to: string): Promise<RepairReport> {
  return repairSqliteStore({
    from: resolveFolder("from", from),
    to: resolveFolder("to", to),
    mend: mendEntry,
  });
}

/** Copies a store into a new folder while others write to it; every file of the copy has a digest. */
export async function backupStore(
  from: string,
  to: string,
  options: BackupOptions = {},
): Promise<BackupManifest> {
  checkFields("options", options, { signal: "signal?" });
  return backupSqliteStore({
    from: resolveFolder("from", from),
    to: resolveFolder("to", to),
    ...dropUndefined({ signal: options.signal }),
  });
}

/** Checks every digest of a backup and copies it into a new store; `replace` moves an existing store aside. */
export async function restoreStore(
  from: string,
  to: string,
  options: RestoreOptions = {},
): Promise<RestoreReport> {
  checkFields("options", options, { signal: "signal?", replace: "boolean?" });
  const target = resolveFolder("to", to);
  const report = await restoreSqliteStore(resolveFolder("from", from), target, options);
  if (report.movedTo !== undefined) await keepErased(report.movedTo, target);
  return report;
}

/** Erases from a restored store the words that were erased from the store that it replaces. */
async function keepErased(former: string, restored: string): Promise<void> {
  const rows: LedgerRow[] = [];
  let keys: readonly Lease[] = [];
  try {
    const store = await openPlace("former", former, true);
    try {
      for await (const row of listLedger(store.ledger, "erased")) rows.push(row);
      keys = (await store.transfer?.keys()) ?? [];
    } finally {
      await store.close();
    }
  } catch {
    // A store is also replaced because it is damaged.
  }
  if (rows.length === 0) return;
  const store = await openPlace("to", restored, false);
  for (const key of keys) await store.transfer?.putKey(key);
  await store.ledger.put("erased", rows);
  await using kernel = await openKernel({ store, embedder: null });
  await kernel.maintenance.eraseAgain();
}

/** Checks every digest of a backup and changes nothing; rejects with BACKUP_INVALID. */
export async function verifyBackup(from: string, options: BackupOptions = {}): Promise<BackupManifest> {
  checkFields("options", options, { signal: "signal?" });
  return verifyBackupFolder(resolveFolder("from", from), options.signal);
}

/**
 * Copies a store into another engine or place while others write to it: `from` and `to` are folders or URLs of
 * PostgreSQL databases. The target must be new, or filled by an earlier move from the same source, which then
 * continues.
 */
export async function migrateStore(from: string, to: string, options: MoveOptions = {}): Promise<MoveReport> {
  checkFields("options", options, { signal: "signal?", onProgress: "function?" });
  const source = await openPlace("from", from, true);
  try {
    const target = await openPlace("to", to, false);
    try {
      return await moveStore(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Opens a folder or a database as it is; entries keep the times that they have. */
async function openPlace(option: string, place: string, isSource: boolean): Promise<Store> {
  checkKind(option, place, "name");
  const clock = { now: () => 0 };
  if (isPostgresUrl(place)) {
    const { openPostgresStore } = await import("../stores/postgres/index.ts");
    return openPostgresStore({ url: place, clock, isReadOnly: isSource });
  }
  const path = resolveFolder(option, place);
  if (isSource && !existsSync(join(path, "log.db")))
    throw new LonghaulError("STORE_IO", `There is no store at ${path}; name the folder of one.`, {
      details: { path },
    });
  return openSqliteStore({ path, clock });
}

function resolveFolder(option: string, path: string): string {
  checkKind(option, path, "name");
  if (path.includes("\0")) throw createArgumentError(option, path, "a folder, without a null byte");
  return resolve(path);
}

function pickMemoryOptions(
  { embedder, onWarning }: KernelOptions,
  { maxVectorBytes }: Limits,
): MemoryOptions {
  return { maxVectorBytes, ...dropUndefined({ embedder, onWarning }) };
}

/** Model facts and providers; provider packages are loaded on first use. */
function buildModels({ catalogue, models, onWarning, providers }: KernelOptions): SessionModels {
  return {
    catalogue: createModelCatalog({
      catalogue: catalogue ?? genaiPrices(),
      ...dropUndefined({ models, onWarning }),
    }),
    provider: async (id) => {
      const { aiSdkProvider } = await import("../wire/provider/ai-sdk/index.ts");
      return aiSdkProvider(id, dropUndefined({ providers }));
    },
  };
}

/** Rewrites a stored entry with a checksum; an unreadable one becomes kind "damaged". */
function mendEntry(stored: StoredEntry): {
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
  readonly blobs: readonly Digest[];
} {
  const body: EntryBody = decodeStoredBody(stored);
  return {
    kind: body.kind,
    payload: encodePayload(writeBody(body), body.kind),
    blobs: findBodyBlobs(body),
  };
}
