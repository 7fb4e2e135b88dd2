import type { WireFault } from "../../wire/wire.ts";
import type { DoorLimits } from "./door-config.ts";
import type { Principal } from "./principal.ts";

/** No person takes more than this share of the connections, so that others always get in. */
const CONNECTION_SHARE = 4;

/** Counts the requests in progress of each person with a token. */
export class PersonLimits {
  readonly #limits: () => DoorLimits;
  readonly #open = new Map<string, number>();

  constructor(limits: () => DoorLimits) {
    this.#limits = limits;
  }

  /** Counts a request until the returned function is called; a fault if the person has too many. */
  begin({ id, token }: Principal): WireFault | (() => void) {
    if (token === undefined) return () => undefined;
    const { maxPersonRequests, maxConnections } = this.#limits();
    const max = Math.max(1, Math.min(maxPersonRequests, Math.floor(maxConnections / CONNECTION_SHARE)));
    const open = this.#open.get(id) ?? 0;
    if (open >= max)
      return {
        status: 429,
        kind: "rate_limit",
        message: `${token} has ${open} requests in progress, which is the limit for one person; wait until one of them has ended.`,
        headers: { "retry-after": "2" },
      };
    this.#open.set(id, open + 1);
    return () => {
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left === 0) this.#open.delete(id);
      else this.#open.set(id, left);
    };
  }
}
