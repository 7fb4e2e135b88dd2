import type { Kernel } from "../../index.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { Room } from "../thread/asked.ts";

/** Maximum number of models for which learned limits are kept. */
const MOST_LEARNED = 200;

/** The facts that the limits of a request depend on. */
interface Bound {
  readonly upstream: Pick<UpstreamConfig, "name" | "window">;
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** Knows the token limits of requests: the model's window, the upstream's limit, and the client's assumption. */
export class Rooms {
  readonly #kernel: Kernel;
  readonly #models: () => GatewayConfig["models"];
  readonly #learned = new Map<string, number>();
  readonly #countsOutput = new Set<string>();

  /** `models` returns the overrides of the configuration. */
  constructor(kernel: Kernel, models: () => GatewayConfig["models"]) {
    this.#kernel = kernel;
    this.#models = models;
  }

  roomOf(bound: Bound, thresholdPercent: number): Room {
    const { upstream, model, isMillion } = bound;
    const told = this.#learned.get(keyOf(bound)) ?? Number.POSITIVE_INFINITY;
    const window = Math.min(upstream.window ?? this.windowOf(model, isMillion), told);
    const threshold = Math.floor((this.clientWindow(bound) * thresholdPercent) / 100);
    return { window, threshold, ...(this.#countsOutput.has(keyOf(bound)) && { isOutputCounted: true }) };
  }

  /** The window that a client assumes, which it looks up by its own name for the model. */
  clientWindow({ clientModel, isMillion }: Pick<Bound, "clientModel" | "isMillion">): number {
    return this.windowOf(clientModel, isMillion);
  }

  /** The window of a model, or its long window if `isMillion`. */
  windowOf(model: string, isMillion = false): number {
    const isGiven = this.#models()[model]?.window !== undefined;
    return this.#kernel.modelFacts(isMillion && !isGiven ? `${model}[1m]` : model).window;
  }

  /** The limit learned from an upstream, if any. */
  told(bound: Bound): number | undefined {
    return this.#learned.get(keyOf(bound));
  }

  /** Restores the limit that `told` returned earlier: an upstream that refuses everything has not revealed a limit. */
  takeBack(bound: Bound, told: number | undefined): void {
    if (told === undefined) this.#learned.delete(keyOf(bound));
    else this.#learned.set(keyOf(bound), told);
  }

  /** Learns a limit from an upstream's error. */
  learn(bound: Bound, limit: number): void {
    const key = keyOf(bound);
    const known = this.#learned.get(key);
    if (known !== undefined && known <= limit) return;
    this.#learned.delete(key);
    this.#learned.set(key, limit);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size <= MOST_LEARNED || oldest === undefined) return;
    this.#learned.delete(oldest);
    this.#countsOutput.delete(oldest);
  }

  /** Learns that an upstream counts the requested output; only for one whose limit is known. */
  learnOutputCounts(bound: Bound): void {
    const key = keyOf(bound);
    if (this.#learned.has(key)) this.#countsOutput.add(key);
  }
}

function keyOf({ upstream, model, isMillion }: Bound): string {
  return `${upstream.name} ${model}${isMillion ? " long" : ""}`;
}
