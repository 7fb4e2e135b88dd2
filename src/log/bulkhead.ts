import { readVersion } from "../model/base/package-files.ts";
import type { Clock } from "../model/clock.ts";
import type { SessionId } from "../model/entry.ts";
import { type ErrorCode, isLonghaulError } from "../model/errors.ts";
import { listLedger } from "./store/ledger-store.ts";
import type { Store } from "./store/store.ts";

/** Loops that work through the content of everybody. */
export type SharedLoop = "index" | "places" | "import" | "retention" | "estimates";

/** An item that a loop left out, because it failed by itself. */
export interface SkippedItem {
  readonly loop: SharedLoop;
  /** An entry, a session or a source. */
  readonly item: string;
  /** A code or the name of an error; never its text, which may quote content. */
  readonly reason: string;
  /** The version of longhaul that failed; a later one tries again. */
  readonly version: string;
  readonly at: number;
}

/** Failures of the store or the caller, which every other item would meet, too. */
const OF_ALL_ITEMS: readonly ErrorCode[] = [
  "ABORTED",
  "CLOSED",
  "DISK_FULL",
  "STORE_BUSY",
  "STORE_CORRUPT",
  "STORE_IO",
  "STORE_READ_ONLY",
  "SCHEMA_TOO_NEW",
];

const MAX_REMEMBERED = 10_000;

/**
 * Takes the items of a shared loop one by one: an item that fails is noted and left out, and the loop goes on, so that
 * the content of one person never stops the work for another. A later version of longhaul tries it again.
 */
export class Bulkhead {
  readonly #store: Pick<Store, "ledger">;
  readonly #clock: Clock;
  readonly #loop: SharedLoop;
  /** Items that are noted as left out, with the version that did. */
  #noted: Promise<Map<string, string>> | undefined;
  #skipped = 0;

  constructor(store: Pick<Store, "ledger">, clock: Clock, loop: SharedLoop) {
    this.#store = store;
    this.#clock = clock;
    this.#loop = loop;
  }

  /** Number of items that this process left out. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The result of the work for an item; undefined if it failed by itself. */
  async run<T>(item: string, work: () => Promise<T> | T): Promise<T | undefined> {
    try {
      const done = await work();
      if ((await this.#readNoted()).has(item)) await this.#forget(item);
      return done;
    } catch (error) {
      if (!isOfItem(error)) throw error;
      await this.note(item, error);
      return undefined;
    }
  }

  /** Notes an item that the loop left out. A store that cannot be written goes without the note. */
  async note(item: string, error: unknown): Promise<void> {
    this.#skipped++;
    const noted = await this.#readNoted();
    const [version, at] = [readVersion(), this.#clock.now()];
    const value = JSON.stringify({ reason: describeReason(error), version, at });
    await this.#store.ledger.put("skipped", [{ id: this.#toId(item), value }]).catch(() => undefined);
    if (noted.size < MAX_REMEMBERED) noted.set(item, version);
  }

  /** Calls `retry` with each item that another version left out, and removes its note. */
  async retryOutdated(retry: (item: string) => Promise<void>): Promise<void> {
    for (const [item, version] of await this.#readNoted()) {
      if (version === readVersion()) continue;
      await retry(item);
      await this.#forget(item);
    }
  }

  #toId(item: string): string {
    return `${this.#loop}\n${item}`;
  }

  async #forget(item: string): Promise<void> {
    (await this.#readNoted()).delete(item);
    await this.#store.ledger.remove("skipped", [this.#toId(item)]).catch(() => undefined);
  }

  /** Read once for each handle; a reader that may not see the notes has none. */
  #readNoted(): Promise<Map<string, string>> {
    this.#noted ??= this.#listNoted().catch(() => new Map());
    return this.#noted;
  }

  async #listNoted(): Promise<Map<string, string>> {
    const noted = new Map<string, string>();
    for await (const { loop, item, version } of listSkipped(this.#store))
      if (loop === this.#loop && noted.size < MAX_REMEMBERED) noted.set(item, version);
    return noted;
  }
}

/** Everything that loops have left out. */
export async function* listSkipped({ ledger }: Pick<Store, "ledger">): AsyncGenerator<SkippedItem> {
  for await (const { id, value } of listLedger(ledger, "skipped")) {
    const at = id.indexOf("\n");
    const [loop, item] = [id.slice(0, at) as SharedLoop, id.slice(at + 1)];
    yield { loop, item, ...(JSON.parse(value) as Omit<SkippedItem, "loop" | "item">) };
  }
}

/** Removes the notes about a session that is gone, and about its entries. */
export async function forgetSkipped(store: Pick<Store, "ledger">, session: SessionId): Promise<void> {
  const gone: string[] = [];
  for await (const { loop, item } of listSkipped(store))
    if (item === session || item.startsWith(`${session}#`)) gone.push(`${loop}\n${item}`);
  if (gone.length > 0) await store.ledger.remove("skipped", gone);
}

/** True for a failure that says nothing about other items. */
export function isOfItem(error: unknown): boolean {
  if (isLonghaulError(error)) return !OF_ALL_ITEMS.includes(error.code);
  return (error as Error | undefined)?.name !== "AbortError";
}

function describeReason(error: unknown): string {
  if (isLonghaulError(error)) return error.code;
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  return [name, code].filter((part) => typeof part === "string" && part !== "").join(" ") || "unknown";
}
