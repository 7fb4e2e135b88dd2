import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Json, Kernel } from "../../../kernel/index.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { SharedStates } from "../limits/shared-states.ts";
import type { TokenLimits } from "../thread/call-request.ts";

/** Maximum number of models for which learned limits are kept. */
const MAX_LEARNED = 200;
const SHARED_KIND = "limit";
/** The file that keeps learned limits between starts; older ones may have changed since. */
export const LIMITS_FILE = "limits.json";
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** The facts that the limits of a request depend on. */
interface LimitedRequest {
  readonly upstream: Pick<UpstreamConfig, "name" | "window">;
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** A limit that an upstream has named. */
interface LearnedLimit {
  readonly limit: number;
  /** True if the upstream counts the requested output. */
  readonly countsOutput: boolean;
  readonly at: number;
}

/** Knows the token limits of requests: the model's window, the upstream's limit, and the client's assumption. */
export class ModelLimits {
  readonly #kernel: Kernel;
  readonly #models: () => GatewayConfig["models"];
  readonly #learned = new Map<string, LearnedLimit>();
  readonly #shared: SharedStates | undefined;
  readonly #file: string | undefined;

  /**
   * `models` returns the overrides of the configuration; `shared` carries learned limits to other gateways, and `file`
   * to the next start.
   */
  constructor(kernel: Kernel, models: () => GatewayConfig["models"], shared?: SharedStates, file?: string) {
    this.#kernel = kernel;
    this.#models = models;
    this.#shared = shared;
    this.#file = file;
    shared?.listen(SHARED_KIND, (key, value) => this.#take(key, value));
    for (const [key, value] of Object.entries(readLimits(file))) this.#take(key, value);
  }

  getLimits(bound: LimitedRequest, thresholdPercent: number): TokenLimits {
    const { upstream, model, isMillion } = bound;
    const { limit = Number.POSITIVE_INFINITY, countsOutput } = this.getLearned(bound) ?? {};
    const window = Math.min(upstream.window ?? this.getWindow(model, isMillion), limit);
    const threshold = Math.floor((this.getClientWindow(bound) * thresholdPercent) / 100);
    return { window, threshold, ...(countsOutput && { isOutputCounted: true }) };
  }

  /** The window that a client assumes, which it looks up by its own name for the model. */
  getClientWindow({ clientModel, isMillion }: Pick<LimitedRequest, "clientModel" | "isMillion">): number {
    return this.getWindow(clientModel, isMillion);
  }

  /** The window of a model, or its long window if `isMillion`. */
  getWindow(model: string, isMillion = false): number {
    const isGiven = this.#models()[model]?.window !== undefined;
    return this.#kernel.modelFacts(isMillion && !isGiven ? `${model}[1m]` : model).window;
  }

  /** The limit learned from an upstream, if any. */
  getLearned(bound: LimitedRequest): LearnedLimit | undefined {
    return this.#learned.get(buildKey(bound));
  }

  /** Restores what `getLearned` returned earlier: an upstream that refuses everything has not revealed a limit. */
  restoreLearned(bound: LimitedRequest, learned: LearnedLimit | undefined): void {
    if (learned !== this.getLearned(bound)) this.#set(buildKey(bound), learned);
  }

  /** Learns a limit from an upstream's error. */
  learn(bound: LimitedRequest, limit: number): void {
    const known = this.getLearned(bound);
    if (known && known.limit <= limit) return;
    this.#set(buildKey(bound), { limit, countsOutput: known?.countsOutput ?? false, at: Date.now() });
  }

  /** Learns that an upstream counts the requested output; only for one whose limit is known. */
  learnOutputCounts(bound: LimitedRequest): void {
    const known = this.getLearned(bound);
    if (known && !known.countsOutput) this.#set(buildKey(bound), { ...known, countsOutput: true });
  }

  #set(key: string, learned: LearnedLimit | undefined): void {
    this.#keep(key, learned);
    this.#shared?.change(SHARED_KIND, key, () => (learned ?? { limit: null }) as unknown as Json);
    if (this.#file !== undefined) writeLimits(this.#file, Object.fromEntries(this.#learned));
  }

  #keep(key: string, learned: LearnedLimit | undefined): void {
    this.#learned.delete(key);
    if (learned) this.#learned.set(key, learned);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MAX_LEARNED && oldest !== undefined) this.#learned.delete(oldest);
  }

  /** Takes over a limit that another gateway or an earlier start has learned, or has found to be none. */
  #take(key: string, value: unknown): void {
    const { limit, countsOutput, at } = Object(value) as { readonly [field: string]: unknown };
    const since = typeof at === "number" ? at : Date.now();
    const isKnown = typeof limit === "number" && limit > 0 && since > Date.now() - MAX_AGE_MS;
    this.#keep(key, isKnown ? { limit, countsOutput: countsOutput === true, at: since } : undefined);
  }
}

function readLimits(file: string | undefined): object {
  try {
    return file === undefined ? {} : Object(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}

/** Without the file, the next start costs a refused request. */
function writeLimits(file: string, limits: object): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(limits), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // A full disk is reported by the store.
  }
}

function buildKey({ upstream, model, isMillion }: LimitedRequest): string {
  return `${upstream.name} ${model}${isMillion ? " long" : ""}`;
}
