import { SerialQueue } from "../../../model/base/serial-queue.ts";
import type { ApiCaller } from "./api-caller.ts";
import { ApiError } from "./api-error.ts";

/**
 * The load of a request, apart from its reply: it "stores" bytes, "computes" for seconds, or keeps a "stream" open. Requests that
 * store or compute are counted by budgets of requests.
 */
export type RouteWeight = "stores" | "computes" | "stream";

/** Bounds of one person with a token. */
export interface PersonBounds {
  readonly maxPersonStreams: number;
  /** Counts bytes that a person stores; throws if there are too many in a day. */
  countStored(caller: Pick<ApiCaller, "id" | "name">, sizeBytes: number): void;
  /** Counts a request in the budgets of a person; throws if one is used up. */
  charge(person: string): Promise<void>;
}

/** Further requests that compute wait in line; more than this are refused. */
const MAX_WAITING = 16;
/** Computing takes a core, so few people compute at once. */
const MAX_COMPUTING = 2;

/** Shares the gateway among people: nobody computes twice at once, holds all streams, or fills the disk. */
export class PersonLoad {
  readonly #bounds: PersonBounds;
  readonly #streams = new Map<string, number>();
  readonly #computing = new Map<string, SerialQueue>();
  readonly #cores = Array.from({ length: MAX_COMPUTING }, () => new SerialQueue());

  constructor(bounds: PersonBounds) {
    this.#bounds = bounds;
  }

  /** Runs a request within the bounds of its person. */
  async run<T>(
    weight: RouteWeight | undefined,
    { caller, sizeBytes }: { readonly caller: ApiCaller; readonly sizeBytes: number },
    work: () => Promise<T>,
  ): Promise<T> {
    if (weight === undefined) return work();
    if (weight === "stream") return this.#stream(caller, work);
    if (weight === "stores") this.#bounds.countStored(caller, sizeBytes);
    if (caller.name !== undefined) await this.#bounds.charge(caller.name);
    return weight === "computes" ? this.#compute(caller.id, work) : work();
  }

  async #stream<T>({ id, name }: ApiCaller, work: () => Promise<T>): Promise<T> {
    const open = this.#streams.get(id) ?? 0;
    if (name !== undefined && open >= this.#bounds.maxPersonStreams)
      throw createLimitError(`${name} has ${open} streams open, which is the limit for one person.`, 2);
    this.#streams.set(id, open + 1);
    try {
      return await work();
    } finally {
      const left = (this.#streams.get(id) ?? 1) - 1;
      if (left === 0) this.#streams.delete(id);
      else this.#streams.set(id, left);
    }
  }

  async #compute<T>(id: string, work: () => Promise<T>): Promise<T> {
    const own = this.#computing.get(id) ?? new SerialQueue();
    if (own.waiting > MAX_WAITING)
      throw createLimitError("Too many requests that compute are waiting; a person runs one at a time.", 5);
    this.#computing.set(id, own);
    try {
      return await own.run(() => {
        const [core] = this.#cores.toSorted((one, other) => one.waiting - other.waiting);
        return (core as SerialQueue).run(work);
      });
    } finally {
      if (own.waiting === 0) this.#computing.delete(id);
    }
  }
}

function createLimitError(message: string, retrySeconds: number): ApiError {
  return new ApiError("LIMIT_REACHED", message, { headers: { "retry-after": String(retrySeconds) } });
}
