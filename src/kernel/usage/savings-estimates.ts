import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { readVersion, resolveModuleFile } from "../../model/base/package-files.ts";
import { loadConversation } from "../calls/load-conversation.ts";
import { POLICIES, type Policy, type Protocol, type RecordedMessage, replay } from "../faces/window.ts";
import type { Kernel, SessionId } from "../index.ts";
import { chooseReplayProtocol, countRequests, findLastModelFacts, getTokenPrice } from "./replay-protocol.ts";
import { readRequestUsage } from "./request-usage.ts";
import { UsageSums } from "./usage-sums.ts";

/** The window of every estimate; that of "longhaul replay --all". */
export const ESTIMATE_WINDOW = 200_000;

/** The file of the estimates, in the folder of the store. */
export const ESTIMATES_FILE = "estimates.json";

/** A conversation to replay. */
export interface EstimateTask {
  readonly conversation: readonly RecordedMessage[];
  readonly protocol: Protocol;
  /** US dollars of an uncached input token; undefined if unknown. */
  readonly tokenPrice: number | undefined;
}

/** The cost of a recorded conversation under the default policy, compared with a window that is never edited. */
export interface SessionEstimate {
  readonly requests: number;
  /** The largest prompt without edits, in tokens. */
  readonly peakTokens: number;
  /** US dollars for prompts under the policy and without it; null if the price of the model is unknown. */
  readonly dollars: number | null;
  readonly unboundedDollars: number | null;
}

/** Replays one conversation. */
export function scoreEstimate({ conversation, protocol, tokenPrice }: EstimateTask): SessionEstimate {
  const unbounded = replay(conversation, findPolicy("none"), Number.POSITIVE_INFINITY, { protocol });
  const bounded = replay(conversation, findPolicy("longhaul"), ESTIMATE_WINDOW, { protocol });
  return {
    requests: bounded.requests,
    peakTokens: unbounded.peakTokens,
    dollars: tokenPrice === undefined ? null : bounded.cost * tokenPrice,
    unboundedDollars: tokenPrice === undefined ? null : unbounded.cost * tokenPrice,
  };
}

function findPolicy(name: string): Policy {
  return POLICIES.find((policy) => policy.name === name) as Policy;
}

/** The last estimate of a session; `state` changes when the session or the prices of its model do. */
interface KnownEstimate {
  readonly state: string;
  /** Null for a session without requests. */
  readonly estimate: SessionEstimate | null;
}

interface RefreshOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number) => void;
}

const SAVE_MS = 2_000;
const PAGE = 500;
/** A server leaves longer sessions to the command line. */
const MAX_ENTRIES = 50_000;

/**
 * Estimates of the sessions of a store, replayed in a worker thread. The file next to the store holds figures under
 * digests of session ids, so that a later run replays only sessions that are new or have grown.
 */
export class SavingsEstimates {
  readonly #kernel: Kernel;
  readonly #file: string | undefined;
  readonly #maxEntries: number;
  #known: Promise<Map<string, KnownEstimate>> | undefined;
  #worker: Worker | undefined;
  #savedMs = performance.now();

  /**
   * Without a file, estimates last as long as this object. Sessions with more than `maxEntries` are left out: a
   * conversation is held in memory while it is replayed.
   */
  constructor(kernel: Kernel, file?: string, maxEntries = Number.POSITIVE_INFINITY) {
    this.#kernel = kernel;
    this.#file = file;
    this.#maxEntries = maxEntries;
  }

  /** The last estimate of a session, which may have grown since; null without requests, undefined if not replayed. */
  async find(id: SessionId): Promise<SessionEstimate | null | undefined> {
    return (await this.#load()).get(computeDigest(id))?.estimate;
  }

  /** Replays the sessions that have no estimate of their present state, in the given order. */
  async refresh(ids: readonly SessionId[], { signal, onProgress }: RefreshOptions): Promise<void> {
    const known = await this.#load();
    const bulkhead = this.#kernel.maintenance.bulkhead("estimates");
    try {
      for (const [index, id] of ids.entries()) {
        signal.throwIfAborted();
        await bulkhead.run(id, () => this.#refreshOne(id, known, signal));
        onProgress?.(index + 1);
      }
    } finally {
      await this.#save();
    }
  }

  /** Forgets the figures of sessions that are not among these. */
  async keepOnly(ids: readonly SessionId[]): Promise<void> {
    const known = await this.#load();
    const kept = new Set(ids.map((id) => computeDigest(id)));
    const gone = [...known.keys()].filter((key) => !kept.has(key));
    for (const key of gone) known.delete(key);
    if (gone.length > 0) await this.#save();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #refreshOne(id: SessionId, known: Map<string, KnownEstimate>, signal: AbortSignal): Promise<void> {
    const key = computeDigest(id);
    const state = await this.#readState(id);
    if (state === undefined || known.get(key)?.state === state) return;
    // A session whose replay fails counts as one without requests until it or the program changes.
    known.set(key, { state, estimate: null });
    const task = await this.#readTask(id);
    known.set(key, { state, estimate: task ? await this.#score(task, signal) : null });
    if (performance.now() - this.#savedMs > SAVE_MS) await this.#save();
  }

  /**
   * A text that changes with the session and the prices of its model; undefined if the session is gone or too long.
   */
  async #readState(id: SessionId): Promise<string | undefined> {
    const record = await this.#kernel.find(id);
    if (!record) return undefined;
    await using session = await this.#kernel.session(id);
    const { seq } = await session.head();
    if (seq > this.#maxEntries) return undefined;
    const { model } = await session.lastCall();
    const prices = model === undefined ? null : this.#kernel.modelFacts(model).prices;
    return computeDigest(JSON.stringify([readVersion(), record.createdAt, seq, record.lineSeq, prices]), 16);
  }

  async #readTask(id: SessionId): Promise<EstimateTask | undefined> {
    const kernel = this.#kernel;
    const conversation = await loadConversation(kernel, id);
    if (countRequests(conversation) === 0) return undefined;
    const facts = findLastModelFacts(kernel, conversation);
    const own = new UsageSums();
    await using session = await kernel.session(id);
    for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model))) own.add(usage);
    return {
      conversation,
      protocol: chooseReplayProtocol(own.total, facts),
      tokenPrice: getTokenPrice(facts),
    };
  }

  async #score(task: EstimateTask, signal: AbortSignal): Promise<SessionEstimate> {
    this.#worker ??= new Worker(resolveModuleFile("kernel/usage/estimate-worker"));
    const worker = this.#worker;
    worker.unref();
    worker.postMessage(task);
    try {
      const [estimate] = await once(worker, "message", { signal });
      return estimate as SessionEstimate;
    } catch (error) {
      // The reply of an interrupted replay must not be taken for that of the next one.
      await this.close();
      throw error;
    }
  }

  /** Read once: callers that come while the file is read must get the same map. */
  #load(): Promise<Map<string, KnownEstimate>> {
    this.#known ??= readEstimates(this.#file);
    return this.#known;
  }

  /** A store that cannot be written keeps the earlier file. */
  async #save(): Promise<void> {
    this.#savedMs = performance.now();
    if (this.#file === undefined || !this.#known) return;
    const staged = `${this.#file}.${randomUUID()}`;
    try {
      const text = JSON.stringify({ sessions: Object.fromEntries(await this.#known) });
      await writeFile(staged, text, { mode: 0o600 });
      await rename(staged, this.#file);
    } catch {
      await rm(staged, { force: true }).catch(() => undefined);
    }
  }
}

async function readEstimates(file: string | undefined): Promise<Map<string, KnownEstimate>> {
  try {
    if (file === undefined) return new Map();
    return new Map(Object.entries(JSON.parse(await readFile(file, "utf8")).sessions));
  } catch {
    return new Map();
  }
}

/** A run counts as recent, and is not repeated, for this long. */
const FRESH_MS = 60_000;

/** Keeps the estimates of a whole store up to date in the background, for a server that is asked for them. */
export class EstimateRun {
  readonly #kernel: Kernel;
  readonly #estimates: SavingsEstimates;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel, file?: string) {
    this.#kernel = kernel;
    this.#estimates = new SavingsEstimates(kernel, file, MAX_ENTRIES);
  }

  /** The last estimate of a session; null without requests, undefined if it is not replayed yet. */
  find(id: SessionId): Promise<SessionEstimate | null | undefined> {
    return this.#estimates.find(id);
  }

  /** True while conversations are replayed. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Starts a run unless one is under way or has just ended. */
  start(onError: (error: unknown) => void): void {
    if (this.#running || this.#stop.signal.aborted || performance.now() - this.#endedMs < FRESH_MS) return;
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) onError(error);
      })
      .finally(() => {
        this.#running = undefined;
        this.#endedMs = performance.now();
      });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#estimates.close();
  }

  async #run(): Promise<void> {
    const ids: SessionId[] = [];
    for (let before: SessionId | undefined; ; ) {
      const page = await this.#kernel.sessions({ limit: PAGE, ...dropUndefined({ before }) });
      ids.push(...page.map(({ id }) => id));
      before = page.at(-1)?.id;
      if (page.length < PAGE) break;
    }
    await this.#estimates.refresh(ids, { signal: this.#stop.signal });
    await this.#estimates.keepOnly(ids);
  }
}

/** Bounds of the sizes that estimates are grouped by, in tokens of the largest prompt. */
const SIZES = [50_000, 200_000, Number.POSITIVE_INFINITY] as const;

/** The sums of estimates of some conversations. */
export interface EstimateSums {
  readonly conversations: number;
  /** Conversations without a known price, which the dollars exclude. */
  readonly unpriced: number;
  readonly dollars: number;
  readonly unboundedDollars: number;
}

/** The sums of conversations up to a size; null for those above all bounds. */
export interface EstimatesOfSize extends EstimateSums {
  readonly upToTokens: number | null;
}

/** Sums estimates, in all and by the size of the conversation. */
export function sumEstimates(
  estimates: readonly SessionEstimate[],
): EstimateSums & { readonly sizes: readonly EstimatesOfSize[] } {
  const sum = (some: readonly SessionEstimate[]): EstimateSums => ({
    conversations: some.length,
    unpriced: some.filter(({ dollars }) => dollars === null).length,
    dollars: some.reduce((total, { dollars }) => total + (dollars ?? 0), 0),
    unboundedDollars: some.reduce((total, { unboundedDollars }) => total + (unboundedDollars ?? 0), 0),
  });
  const sizes = SIZES.map((bound, index) => {
    const above = SIZES[index - 1] ?? 0;
    const own = estimates.filter(({ peakTokens }) => peakTokens > above && peakTokens <= bound);
    return { upToTokens: Number.isFinite(bound) ? bound : null, ...sum(own) };
  });
  return { ...sum(estimates), sizes };
}

/** The share of the prompts' cost that the policy saves; null without a price, 0 if it saves nothing. */
export function computeSavedShare({ dollars, unboundedDollars }: SessionEstimate): number | null {
  if (dollars === null || unboundedDollars === null) return null;
  return unboundedDollars > 0 ? Math.max(0, 1 - dollars / unboundedDollars) : 0;
}

/** Orders elements so that every beginning of the result is spread evenly over all of them. */
export function spreadEvenly<T>(all: readonly T[]): readonly T[] {
  const bits = Math.ceil(Math.log2(Math.max(1, all.length)));
  const reverse = (index: number) =>
    Number.parseInt(index.toString(2).padStart(bits, "0").split("").reverse().join(""), 2);
  return Array.from({ length: 2 ** bits }, (_, index) => all[reverse(index)]).filter(
    (one) => one !== undefined,
  );
}
