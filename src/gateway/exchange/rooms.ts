import type { Kernel } from "../../index.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Room } from "../thread/asked.ts";

/** Limits that upstreams have told with their errors are remembered for so many models. */
const MOST_LEARNED = 200;

/** Knows how much fits into a request: what the model takes, what the upstream enforces, what the client believes. */
export class Rooms {
  readonly #kernel: Kernel;
  readonly #learned = new Map<string, number>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** `clientModel` is what the client calls the model: by that it looks up the window that it believes in. */
  roomOf(upstream: UpstreamConfig, model: string, clientModel: string, thresholdPercent: number): Room {
    const own = this.#kernel.modelFacts(model).window;
    const told = this.#learned.get(keyOf(upstream, model)) ?? Number.POSITIVE_INFINITY;
    const window = Math.min(upstream.window ?? own, told);
    const threshold = Math.floor((this.clientWindow(clientModel) * thresholdPercent) / 100);
    return { window, threshold };
  }

  /** The window that a client takes a model to have. */
  clientWindow(model: string): number {
    return this.#kernel.modelFacts(model).window;
  }

  /** Remembers a limit that an upstream has told. */
  learn(upstream: UpstreamConfig, model: string, limit: number): void {
    const key = keyOf(upstream, model);
    const known = this.#learned.get(key);
    if (known !== undefined && known <= limit) return;
    this.#learned.delete(key);
    this.#learned.set(key, limit);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MOST_LEARNED && oldest !== undefined) this.#learned.delete(oldest);
  }
}

function keyOf({ name }: UpstreamConfig, model: string): string {
  return `${name} ${model}`;
}
