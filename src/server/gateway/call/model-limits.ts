import type { Json, Kernel } from "../../../kernel/index.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { SharedStates } from "../limits/shared-states.ts";
import type { TokenLimits } from "../thread/call-request.ts";

/** Maximum number of models for which learned limits are kept. */
const MAX_LEARNED = 200;
const SHARED_KIND = "limit";

/** The facts that the limits of a request depend on. */
interface LimitedRequest {
  readonly upstream: Pick<UpstreamConfig, "name" | "window">;
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** Knows the token limits of requests: the model's window, the upstream's limit, and the client's assumption. */
export class ModelLimits {
  readonly #kernel: Kernel;
  readonly #models: () => GatewayConfig["models"];
  readonly #learned = new Map<string, number>();
  readonly #countsOutput = new Set<string>();
  readonly #shared: SharedStates | undefined;

  /** `models` returns the overrides of the configuration; `shared` carries learned limits to other gateways. */
  constructor(kernel: Kernel, models: () => GatewayConfig["models"], shared?: SharedStates) {
    this.#kernel = kernel;
    this.#models = models;
    this.#shared = shared;
    shared?.listen(SHARED_KIND, (key, value) => this.#take(key, value));
  }

  getLimits(bound: LimitedRequest, thresholdPercent: number): TokenLimits {
    const { upstream, model, isMillion } = bound;
    const learned = this.#learned.get(buildKey(bound)) ?? Number.POSITIVE_INFINITY;
    const window = Math.min(upstream.window ?? this.getWindow(model, isMillion), learned);
    const threshold = Math.floor((this.getClientWindow(bound) * thresholdPercent) / 100);
    return { window, threshold, ...(this.#countsOutput.has(buildKey(bound)) && { isOutputCounted: true }) };
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
  getLearned(bound: LimitedRequest): number | undefined {
    return this.#learned.get(buildKey(bound));
  }

  /** Restores the limit that `told` returned earlier: an upstream that refuses everything has not revealed a limit. */
  restoreLearned(bound: LimitedRequest, learned: number | undefined): void {
    if (learned === undefined) this.#learned.delete(buildKey(bound));
    else this.#learned.set(buildKey(bound), learned);
    this.#share(buildKey(bound));
  }

  /** Learns a limit from an upstream's error. */
  learn(bound: LimitedRequest, limit: number): void {
    const key = buildKey(bound);
    const known = this.#learned.get(key);
    if (known !== undefined && known <= limit) return;
    this.#set(key, limit);
    this.#share(key);
  }

  /** Learns that an upstream counts the requested output; only for one whose limit is known. */
  learnOutputCounts(bound: LimitedRequest): void {
    const key = buildKey(bound);
    if (!this.#learned.has(key) || this.#countsOutput.has(key)) return;
    this.#countsOutput.add(key);
    this.#share(key);
  }

  #set(key: string, limit: number): void {
    this.#learned.delete(key);
    this.#learned.set(key, limit);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size <= MAX_LEARNED || oldest === undefined) return;
    this.#learned.delete(oldest);
    this.#countsOutput.delete(oldest);
  }

  #share(key: string): void {
    const limit = this.#learned.get(key) ?? null;
    const countsOutput = this.#countsOutput.has(key);
    this.#shared?.change(SHARED_KIND, key, () => ({ limit, countsOutput }));
  }

  /** Takes over a limit that another gateway has learned, or has found to be none. */
  #take(key: string, value: Json): void {
    const { limit, countsOutput } = (value ?? {}) as {
      readonly limit?: unknown;
      readonly countsOutput?: unknown;
    };
    if (typeof limit === "number") this.#set(key, limit);
    else this.#learned.delete(key);
    if (countsOutput === true) this.#countsOutput.add(key);
  }
}

function buildKey({ upstream, model, isMillion }: LimitedRequest): string {
  return `${upstream.name} ${model}${isMillion ? " long" : ""}`;
}
