import { BoundedMap } from "../../base/bounded-map.ts";
import type { WireFault } from "../../wire/wire.ts";
import type { DoorLimits } from "./door-config.ts";
import type { Principal } from "./principal.ts";

/** No person takes more than this share of the connections, so that others always get in. */
const CONNECTION_SHARE = 4;
const MAX_PEOPLE = 10_000;
const DAY_MS = 86_400_000;

/** Counts the requests in progress of each person with a token, and the bytes that each stores in a day. */
export class PersonLimits {
  readonly #limits: () => DoorLimits;
  readonly #open = new Map<string, number>();
  readonly #stored = new BoundedMap<string, { readonly day: number; readonly bytes: number }>({
    max: MAX_PEOPLE,
  });

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

  /**
   * Counts the bytes of a request as stored by its person today; a fault if that is more than one person may store. The
   * returned function corrects the count once, because most messages of a request are in the log already.
   */
  countStored(
    { id, token }: { readonly id: string; readonly token?: string | undefined },
    sizeBytes: number,
  ): WireFault | ((storedBytes: number) => void) {
    if (token === undefined) return () => undefined;
    const now = Date.now();
    const day = Math.floor(now / DAY_MS);
    const add = (addedBytes: number) => {
      const known = this.#stored.get(id);
      const bytes = (known?.day === day ? known.bytes : 0) + addedBytes;
      const isWithin = bytes <= this.#limits().maxPersonBytes;
      if (isWithin || addedBytes < 0) this.#stored.set(id, { day, bytes: Math.max(0, bytes) });
      return isWithin;
    };
    if (!add(sizeBytes))
      return {
        status: 429,
        kind: "rate_limit",
        message: `${token} has stored as much today as one person may, or the request is larger than what is left (limits.maxPersonBytes). It begins again at midnight UTC; an admin can raise it.`,
        headers: {
          "retry-after": String(Math.ceil(((day + 1) * DAY_MS - now) / 1_000)),
          "x-should-retry": "false",
        },
      };
    let isCorrected = false;
    return (storedBytes) => {
      if (!isCorrected) add(Math.min(0, storedBytes - sizeBytes));
      isCorrected = true;
    };
  }
}
