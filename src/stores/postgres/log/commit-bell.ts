import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { PostgresDatabase } from "../connection/postgres-database.ts";

/** Commits within this time share one notification. */
const RING_MS = 100;
/** How often a listener also looks by itself: a writer may have died between its commit and its notification. */
const LOOK_MS = 2_000;
/** The same behind a pooler, where nothing can be listened to. */
const POOLED_LOOK_MS = 200;
const RECONNECT_MS = 500;
/** How long a writer relies on having found listeners, or none. */
const CENSUS_MS = 1_000;
const CENSUS =
  "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()) AS heard";
/** The commits that it announces are on disk; its own need not be, and nobody waits for a sync. */
const RING = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, '')";

/**
 * Tells listeners of commits: of this process at once, of others by NOTIFY without a payload. Notifications are sent
 * after the commit and not with it, because PostgreSQL lets only one transaction with a notification commit at a time,
 * and only while somebody listens, which the names of the connections tell: slow writers would send nearly as many as
 * they append.
 */
export class CommitBell {
  readonly #db: PostgresDatabase;
  readonly #channel: string;
  readonly #listeners = new Set<() => void>();
  /** The name of connections that listen to this schema. */
  readonly #listenerName: string;
  #isHeard = false;
  #countedMs = Number.NEGATIVE_INFINITY;
  #ringing: NodeJS.Timeout | undefined;
  #sending: Promise<unknown> | undefined;
  #listening: AbortController | undefined;

  constructor(db: PostgresDatabase) {
    this.#db = db;
    this.#channel = `longhaul_${db.schema}`;
    // Names of connections are short and have no characters beyond ASCII.
    const digest = createHash("sha256").update(db.schema).digest("hex").slice(0, 16);
    this.#listenerName = `longhaul_listener_${digest}`;
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#listening) {
      this.#listening = new AbortController();
      void this.#listen(this.#listening.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopListening();
    };
  }

  /** Tells the listeners of this process now, and those of others soon. */
  announce(): void {
    this.#tell();
    this.#ringing ??= setTimeout(() => {
      this.#ringing = undefined;
      // A lost notification is made up for by the listeners' own looks.
      this.#sending = this.#send().catch(() => undefined);
    }, RING_MS);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopListening();
    if (this.#ringing) {
      clearTimeout(this.#ringing);
      this.#ringing = undefined;
      this.#sending = this.#send().catch(() => undefined);
    }
    await this.#sending;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #send(): Promise<void> {
    if (performance.now() - this.#countedMs > CENSUS_MS) {
      const [row] = await this.#db.once(CENSUS, [this.#listenerName]);
      this.#isHeard = row?.heard === true;
      this.#countedMs = performance.now();
    }
    if (this.#isHeard) await this.#db.once(RING, [this.#channel]);
  }

  #stopListening(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  /** Listens until aborted; connects again after every failure. */
  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let client: Client | undefined;
      try {
        await this.#db.query("SELECT 1");
        if (this.#db.isPooled) await this.#watch(signal, POOLED_LOOK_MS, () => this.#readSnapshot());
        else {
          const own = this.#db.createClient();
          client = own;
          own.on("error", () => undefined);
          await own.connect();
          own.on("notification", () => this.#tell());
          await own.query(`SET application_name = '${this.#listenerName}'; LISTEN "${this.#channel}"`);
          await this.#watch(signal, LOOK_MS, async () => {
            const { rows } = await own.query("SELECT pg_current_snapshot()::text AS snapshot");
            return rows[0]?.snapshot as string;
          });
        }
      } catch {
        // Listening has no caller to report to; a listener's next read fails the same way.
        await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      } finally {
        await client?.end().catch(() => undefined);
      }
    }
  }

  /** Compares snapshots until aborted; the timer keeps a process alive that only waits for entries of others. */
  async #watch(signal: AbortSignal, everyMs: number, look: () => Promise<string>): Promise<void> {
    let seen = await look();
    // A commit before the first look was not heard, and comparing later snapshots does not show it.
    this.#tell();
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const snapshot = await look();
      if (snapshot !== seen) this.#tell();
      seen = snapshot;
    }
  }

  async #readSnapshot(): Promise<string> {
    const [row] = await this.#db.once("SELECT pg_current_snapshot()::text AS snapshot");
    return row?.snapshot as string;
  }
}
