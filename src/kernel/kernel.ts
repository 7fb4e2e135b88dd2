import { Blobs } from "../log/blobs.ts";
import { forgetSkipped } from "../log/bulkhead.ts";
import { type CheckOptions, checkStore, type StoreCheck } from "../log/check-store.ts";
import { CommitQueue } from "../log/commit-queue.ts";
import { ErasedWords } from "../log/erasing/erased-words.ts";
import { type ClaimedFact, findClaim } from "../log/facts.ts";
import { Intake } from "../log/intake.ts";
import { adoptInterrupted } from "../log/interrupted-drafts.ts";
import type { Limits } from "../log/limits.ts";
import { Log, type LogDeps } from "../log/log.ts";
import { type CollectedGarbage, collectGarbage, Maintenance } from "../log/maintenance.ts";
import { Presence } from "../log/presence.ts";
import type { CollectOptions } from "../log/store/blob-store.ts";
import type { Head } from "../log/store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "../log/store/freed-counts.ts";
import type { PlaceStore } from "../log/store/place-store.ts";
import type { SessionRecord } from "../log/store/session-store.ts";
import type { Store, StoreSize } from "../log/store/store.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { SESSION_DELETED } from "../model/audit.ts";
import { BoundedMap, CacheRegistry } from "../model/base/caches.ts";
import { claimOwner, releaseOwner } from "../model/base/owner.ts";
import { WorkMeter } from "../model/base/work-meter.ts";
import type { Clock, Ids } from "../model/clock.ts";
import { checkSessionId, type SessionId } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { Census, type CensusCount, Lifetime } from "../model/lifetime.ts";
import { Memories, type MemoriesOptions } from "../recall/memories/memories.ts";
import { DEFAULT_AGENT } from "../recall/memories/stored-memory.ts";
import type { Memory } from "../recall/memory.ts";
import { type MemoryOptions, openMemory } from "../recall/open-memory.ts";
import type { AfterStep, Isolation } from "../tasks/after-end.ts";
import { checkCheckouts, findCheckout } from "../tasks/checkouts.ts";
import { type Fence, FencedLog } from "../tasks/fenced-log.ts";
import { reapStep } from "../tasks/reap-step.ts";
import { safeListener } from "../tasks/safe-listener.ts";
import type { TaskOptions } from "../tasks/task-options.ts";
import { Tasks } from "../tasks/tasks.ts";
import { worktreeIsolation } from "../tasks/worktree-isolation.ts";
import type { ModelFacts } from "../window/models/model-data.ts";
import { Monitor } from "./monitor/monitor.ts";
import { type MonitorOptions, resolveMonitorOptions } from "./monitor/monitor-options.ts";
import { SESSION_FIELDS, type SessionSpec } from "./session/family.ts";
import type { Session } from "./session/session.ts";
import type { SessionModels } from "./session/session-windows.ts";
import { Team } from "./team/team.ts";

/** Initial metadata of a new session. */
export interface SessionOptions {
  readonly title?: string;
  /** When the conversation began, if it was imported; now by default. */
  readonly createdAt?: number;
  readonly meta?: { readonly [key: string]: Json };
}

/** A handle of memories is small, and opened again when it is missed. */
const MAX_MEMORIES = 1_000;

/** Dependencies of a kernel other than its store. */
interface KernelDeps {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly models: SessionModels;
  readonly memory: MemoryOptions;
  readonly tasks: TaskOptions;
  /** False if the monitor measures only on request. */
  readonly monitor: MonitorOptions | false;
}

/** Owns a store and everything opened from it. */
export class Kernel implements AsyncDisposable {
  readonly blobs: Blobs;
  /** Measures memory and work, and relieves memory pressure. */
  readonly monitor: Monitor;
  /** Sizes, files, leases, write-ahead log and caches of the store. */
  readonly maintenance: Maintenance;
  /** People with tokens, roles and budgets, and the log of administrative acts. */
  readonly team: Team;
  readonly #store: Store;
  readonly #log: Log;
  readonly #logDeps: LogDeps;
  readonly #owner = claimOwner();
  readonly #lifetime: Lifetime;
  readonly #models: SessionModels;
  readonly #memoryOptions: MemoryOptions;
  readonly #taskOptions: TaskOptions;
  #memory: Memory | undefined;
  /** The handles of agents, because each request of a gateway asks for one. */
  readonly #memories = new BoundedMap<string, Memories>({ max: MAX_MEMORIES });
  #tasks: Tasks<Session> | undefined;

  constructor(store: Store, { limits, clock, ids, models, memory, tasks, monitor }: KernelDeps) {
    const settings = resolveMonitorOptions(monitor || {});
    this.#taskOptions = tasks;
    this.#memoryOptions = memory;
    this.#store = store;
    this.#models = models;
    this.#lifetime = new Lifetime("kernel", new Census());
    this.#lifetime.own(store);
    this.#lifetime.own({ close: () => releaseOwner(this.#owner) });
    const [meter, caches] = [new WorkMeter(), new CacheRegistry()];
    const queue = this.#lifetime.own(new CommitQueue(store.entries, limits.maxQueuedBytes, meter));
    this.blobs = new Blobs(store.blobs, limits, clock, () => caches.share, meter);
    this.#lifetime.own({ close: () => this.blobs.dropCache() });
    caches.add("blobs", { sizeBytes: () => this.blobs.cachedBytes, drop: () => this.blobs.dropCache() });
    caches.add("store", { sizeBytes: () => store.cacheBytes?.() ?? 0, drop: () => store.dropCaches?.() });
    const erased = new ErasedWords(store, clock);
    this.#logDeps = { store, blobs: this.blobs, limits, clock, ids, queue, meter, caches, erased };
    this.#log = new Log(this.#logDeps);
    this.maintenance = new Maintenance(this.#log, () => this.#lifetime.assertOpen());
    this.team = new Team(store, clock, () => this.#lifetime.assertOpen());
    this.monitor = this.#lifetime.own(new Monitor(this.#log, settings, monitor !== false));
  }

  /** Runs agents as tasks; also reads tasks of other processes. */
  get tasks(): Tasks<Session> {
    if (this.#tasks) return this.#tasks;
    this.#lifetime.assertOpen();
    this.#tasks = this.#lifetime.own(
      new Tasks<Session>({
        ...withTaskDefaults(this.#taskOptions, this.#lifetime.census),
        log: this.#log,
        census: this.#lifetime.census,
        owner: this.#owner,
        modelFacts: (model) => this.modelFacts(model),
        openSession: (id, lifetime, fence) => this.#open({ id }, lifetime, fence),
      }),
    );
    return this.#tasks;
  }

  /** Opens a session by id, creating it if needed; without an id, creates a new one. */
  async session(id: SessionId = this.#log.ids.next(), options: SessionOptions = {}): Promise<Session> {
    checkFields("options", options);
    return this.#open({ ...options, id }, this.#lifetime);
  }

  /** A session's metadata; undefined if it does not exist. Never creates one. */
  async find(id: SessionId): Promise<SessionRecord | undefined> {
    this.#lifetime.assertOpen();
    return this.#store.sessions.get(checkSessionId(id));
  }

  /** Seq and time of a session's last entry; both 0 if it has none. Throws SESSION_NOT_FOUND. */
  async head(id: SessionId): Promise<Head> {
    this.#lifetime.assertOpen();
    return this.#store.entries.head(checkSessionId(id));
  }

  /**
   * Calls `listener` after this or another process has committed entries, possibly late or once for several commits.
   * Returns a function that removes it; until then it keeps the process alive.
   */
  onCommit(listener: () => void): () => void {
    this.#lifetime.assertOpen();
    const safe = safeListener<void>(checkKind("listener", listener, "function"));
    return this.#store.onCommit(() => safe());
  }

  /** The intake with a name, for any session; undefined if it does not exist. Never creates one. */
  async intake(name: string): Promise<Intake | undefined> {
    this.#lifetime.assertOpen();
    checkKind("name", name, "name");
    const state = await this.#store.intakes.get(name);
    return state && new Intake(this.#log, name, state);
  }

  /** The fact that a session claimed under a name (`session.facts.claim`); undefined if none did. */
  async findFact(name: string): Promise<ClaimedFact | undefined> {
    this.#lifetime.assertOpen();
    return findClaim(this.#log, name);
  }

  /** Keys by which entries are found across sessions. */
  /** Makes a gateway known to the others on the store. The caller closes it. */
  openPresence(): Presence {
    this.#lifetime.assertOpen();
    return new Presence(this.#log);
  }

  get places(): PlaceStore {
    this.#lifetime.assertOpen();
    return this.#store.places;
  }

  /** Lists sessions, newest first; `prefix` filters by the start of their ids. */
  async sessions(
    query: { readonly limit?: number; readonly before?: SessionId; readonly prefix?: string } = {},
  ): Promise<readonly SessionRecord[]> {
    this.#lifetime.assertOpen();
    checkFields("query", query, { before: "text?" });
    return this.#store.sessions.list({
      ...query,
      limit: checkWholeNumber("limit", query.limit ?? 50, 1, 1_000),
    });
  }

  /**
   * Deletes a session and everything only it referred to from disk; `recursive` deletes its children and forks first.
   * The audit log keeps that an imported one was deleted, and `by` whom, so that the next import leaves it out.
   */
  async deleteSession(
    id: SessionId,
    options: { readonly recursive?: boolean; readonly by?: string } = {},
  ): Promise<FreedCounts> {
    this.#lifetime.assertOpen();
    checkSessionId(id);
    checkFields("options", options, { recursive: "boolean?", by: "name?" });
    const source = (await this.#store.sessions.get(id))?.meta?.source as
      | { readonly path?: unknown }
      | undefined;
    let freed = NOTHING_FREED;
    if (options.recursive) {
      for (
        let children = await this.#listChildren(id);
        children.length > 0;
        children = await this.#listChildren(id)
      ) {
        for (const child of children) freed = addFreed(freed, await this.deleteSession(child.id, options));
      }
    }
    freed = addFreed(freed, await this.#store.sessions.delete(id));
    await forgetSkipped(this.#store, id);
    this.blobs.dropCache();
    const { by = "local" } = options;
    if (source?.path !== undefined)
      await this.team.record({ actor: by, act: SESSION_DELETED, target: id, details: {} });
    return freed;
  }

  /**
   * Removes unreferenced blobs and files of crashed writers, and turns abandoned drafts into interrupted messages;
   * `minAgeMs` spares younger ones, and a dry run only counts.
   */
  async collectGarbage(options: CollectOptions = {}): Promise<CollectedGarbage> {
    this.#lifetime.assertOpen();
    checkFields("options", options, { dryRun: "boolean?" });
    const minAgeMs = checkWholeNumber("minAgeMs", options.minAgeMs ?? 0, 0);
    const collected = await collectGarbage(this.#log, { ...options, minAgeMs });
    if (!options.dryRun) this.blobs.dropCache();
    return collected;
  }

  /** Returns space of deleted content to the file system; may take long. */
  async vacuum(): Promise<{ readonly freedBytes: number }> {
    this.#lifetime.assertOpen();
    await this.#log.flush();
    return this.#store.vacuum();
  }

  /** Rejects if the store cannot be written: it is full, locked or read-only, or its files were removed. */
  async probe(): Promise<void> {
    this.#lifetime.assertOpen();
    if (this.#store.probe) await this.#store.probe();
    else await this.#store.sessions.list({ limit: 1 });
  }

  /** Reads every entry and blob of the store and reports damage; changes nothing. May take long. */
  async check(options: CheckOptions = {}): Promise<StoreCheck> {
    checkFields("options", options, {
      signal: "signal?",
      onProgress: "function?",
      isStructureOnly: "boolean?",
    });
    this.#lifetime.assertOpen();
    await this.#log.flush();
    return checkStore(this.#log, options);
  }

  /** Recall over all sessions and files; loaded on first use. */
  get memory(): Memory {
    this.#lifetime.assertOpen();
    this.#memory ??= this.#lifetime.own(openMemory(this.#log, this.#lifetime.census, this.#memoryOptions));
    return this.#memory;
  }

  /** Texts that an agent was told to remember; the most recent ones are pinned. */
  memories(agent = DEFAULT_AGENT, options?: MemoriesOptions): Memories {
    this.#lifetime.assertOpen();
    if (options) return new Memories(this.#log, agent, options);
    const known = this.#memories.use(agent);
    if (known) return known;
    const memories = new Memories(this.#log, agent);
    this.#memories.set(agent, memories);
    return memories;
  }

  /** Context window, output limit and prices of a model. */
  modelFacts(id: string): ModelFacts {
    return this.#models.catalogue.getFacts(checkKind("model", id, "text"));
  }

  /** Loads the code and the tables that a session needs, which its first use would otherwise wait for. */
  async prepareSessions(): Promise<void> {
    await import("./session/session.ts");
    // Facts about any model load the table of all models.
    this.modelFacts("claude-sonnet-4-5");
  }

  async size(): Promise<StoreSize> {
    this.#lifetime.assertOpen();
    return this.#store.size();
  }

  /** Numbers of opened and closed kernels, sessions, drafts, tails, watchers, workers and child processes. */
  counts(): Readonly<Record<string, CensusCount>> {
    return this.#lifetime.census.counts();
  }

  /** Resolves when every append so far is committed or refused. */
  async flush(): Promise<void> {
    this.#lifetime.assertOpen();
    await this.#log.flush();
  }

  /** Closes sessions, queue and store, in that order; waits for running appends. Idempotent. */
  close(): Promise<void> {
    return this.#lifetime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Opens a session that exists; undefined if there is none. Never creates one, also if it is deleted at this moment. */
  async existingSession(id: SessionId): Promise<Session | undefined> {
    if (!(await this.find(id))) return undefined;
    return this.#attach(id, this.#lifetime);
  }

  /** With a fence, writes to the session are refused once its task may no longer write. */
  async #open(session: SessionSpec, lifetime: Lifetime, fence?: Fence): Promise<Session> {
    this.#lifetime.assertOpen();
    checkSessionId(session.id);
    checkFields("options", session, SESSION_FIELDS);
    const { title } = session;
    const screened =
      title === undefined ? {} : { title: await this.#log.erased.screenTitle(session.id, title) };
    const createdAt = this.#log.clock.now();
    const { created } = await this.#store.sessions.open({ createdAt, ...session, ...screened });
    if (!created) await adoptInterrupted(this.#log, session.id);
    return this.#attach(session.id, lifetime, fence);
  }

  /** A handle of a session that is in the store. */
  async #attach(id: SessionId, lifetime: Lifetime, fence?: Fence): Promise<Session> {
    // Loaded on first use: windows and summaries are a third of all code, and a recall needs neither.
    const { Session } = await import("./session/session.ts");
    return new Session({
      id,
      log: fence ? new FencedLog(this.#logDeps, fence) : this.#log,
      owner: this.#owner,
      lifetime,
      open: (next, owner) => this.#open(next, owner, fence),
      models: this.#models,
      paging: { related: (...asked) => this.memory.related(...asked) },
      findQuotes: (text) => this.memory.findRepetitions(text),
    });
  }

  #listChildren(id: SessionId): Promise<readonly SessionRecord[]> {
    return this.#store.sessions.list({ parent: id, limit: 100 });
  }
}

/** Adds the defaults of every kernel: the worktree isolation, and reaping of processes that a crash left running. */
function withTaskDefaults(
  options: TaskOptions,
  census: Census,
): TaskOptions & {
  readonly repository: string;
  readonly isolations: Readonly<Record<string, Isolation>>;
  readonly afterEnd: readonly AfterStep[];
} {
  const { repository = process.cwd(), isolations, afterEnd = [], checkouts = {} } = options;
  checkCheckouts(checkouts);
  // Plans written by older versions may name no repository.
  const worktree = worktreeIsolation({
    repository: (plan) => {
      const named = plan.repository ?? repository;
      // A worker may be on another machine than the program that started the task.
      return plan.queue === undefined ? named : findCheckout(named, checkouts);
    },
    collects: [repository],
    census,
  });
  return {
    ...options,
    repository,
    isolations: { worktree, ...isolations },
    afterEnd: [reapStep({ after: "orphans" }), ...afterEnd],
  };
}
