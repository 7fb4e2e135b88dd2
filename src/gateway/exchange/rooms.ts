import type { Kernel } from "../../index.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { Room } from "../thread/asked.ts";

/** Limits that upstreams have told with their errors are remembered for so many models. */
const MOST_LEARNED = 200;

/** What the room of a request depends on. */
interface Bound {
  readonly upstream: Pick<UpstreamConfig, "name" | "window">;
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of a million tokens. */
  readonly isMillion: boolean;
}

/** Knows how much fits into a request: what the model takes, what the upstream enforces, what the client believes. */
export class Rooms {
  readonly #kernel: Kernel;
  readonly #models: () => GatewayConfig["models"];
  readonly #learned = new Map<string, number>();
  readonly #countsOutput = new Set<string>();

  /** `models` are those of which the configuration says more. */
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

  /** The window that a client takes its model to have: it looks it up by what it calls the model itself. */
  clientWindow({ clientModel, isMillion }: Pick<Bound, "clientModel" | "isMillion">): number {
    return this.windowOf(clientModel, isMillion);
  }

  /** The window of a model, or the long one that it has if asked for. */
  windowOf(model: string, isMillion = false): number {
    const isGiven = this.#models()[model]?.window !== undefined;
    return this.#kernel.modelFacts(isMillion && !isGiven ? `${model}[1m]` : model).window;
  }

  /** The limit that an upstream has told, if it has. */
  told(bound: Bound): number | undefined {
    return this.#learned.get(keyOf(bound));
  }

  /** Takes back what was learned since `told` was asked for: an upstream that refuses whatever it is sent told no limit. */
  takeBack(bound: Bound, told: number | undefined): void {
    if (told === undefined) this.#learned.delete(keyOf(bound));
    else this.#learned.set(keyOf(bound), told);
  }

  /** Remembers a limit that an upstream has told. */
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

  /** Remembers that an upstream counts the output that is asked for; of one that has told its limit. */
  learnOutputCounts(bound: Bound): void {
    const key = keyOf(bound);
    if (this.#learned.has(key)) this.#countsOutput.add(key);
  }
}

function keyOf({ upstream, model, isMillion }: Bound): string {
  return `${upstream.name} ${model}${isMillion ? " long" : ""}`;
}
