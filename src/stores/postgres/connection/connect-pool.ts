import type { Client, CustomTypesConfig, Pool, PoolClient, PoolConfig } from "pg";
import { LonghaulError } from "../../../model/errors.ts";
import type { ConnectionUrl } from "./connection-url.ts";
import { classifyFailure } from "./postgres-error.ts";
import { SQL_TYPES } from "./sql-values.ts";

/** PostgreSQL 14 is the oldest that we test with. */
const MIN_SERVER_VERSION = 140_000;
/** Connections that are kept open by default; one more listens. */
const DEFAULT_CONNECTIONS = 10;
/** A connection that takes longer is tried again, on the next server where there are several. */
const CONNECT_TIMEOUT_MS = 10_000;
/** A server that does not answer for so long is given up. */
const ANSWER_TIMEOUT_MS = 60_000;
const IDLE_MS = 30_000;

/** How long an unused connection is kept out of the pool. */
const KEEP_MS = 1_000;

/** A pool of connections to the first server that accepts writes. */
export interface ConnectedPool {
  readonly clients: ClientLender;
  /**
   * True if a pooler such as PgBouncer stands between: a transaction may then run on any of its connections, and
   * nothing that belongs to a connection can be used, such as prepared statements and LISTEN.
   */
  readonly isPooled: boolean;
  /** A new connection outside the pool. */
  createClient(): Client;
  /** The value parsers of pg, which other packages expect. */
  readonly plainTypes: CustomTypesConfig;
}

/** Loads the package pg, which is optional. */
async function loadPg(): Promise<typeof import("pg")> {
  try {
    return (await import("pg")).default as unknown as typeof import("pg");
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      "A PostgreSQL store needs the package pg. Install it (npm install pg), or name a folder for an embedded store.",
      { cause, details: { package: "pg" } },
    );
  }
}

/** Creates the pool; it connects on first use, and again after every failure. */
export async function connectPool(url: ConnectionUrl, isReadOnly: boolean): Promise<ConnectedPool> {
  const pg = await loadPg();
  const state = { isPooled: false, server: 0 };
  const settings = () => ({
    connectionString: url.urlOf(url.servers[state.server] as (typeof url.servers)[number]),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "longhaul",
    keepAlive: true,
    pipeline: true,
    types: SQL_TYPES as unknown as NonNullable<PoolConfig["types"]>,
  });
  const pool = new pg.Pool({
    ...settings(),
    max: url.maxConnections ?? DEFAULT_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    onConnect: async (client) => {
      state.isPooled = await prepareConnection(client as Client, url, isReadOnly);
    },
  });
  // Failures of idle connections; the pool has already removed them.
  pool.on("error", () => undefined);
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  pool.connect = (async () => {
    try {
      return await connect();
    } catch (error) {
      if (classifyFailure(error) === "connection" && url.servers.length > 1) {
        state.server = (state.server + 1) % url.servers.length;
        Object.assign((pool as unknown as { options: object }).options, settings());
      }
      throw error;
    }
  }) as unknown as typeof pool.connect;
  return {
    clients: new ClientLender(pool),
    get isPooled() {
      return state.isPooled;
    },
    createClient: () => new pg.Client(settings()),
    plainTypes: pg.types as unknown as CustomTypesConfig,
  };
}

/** Refuses standbys and old servers, and limits the time of abandoned transactions; true behind a pooler. */
async function prepareConnection(
  client: Client,
  { target, shown }: ConnectionUrl,
  isReadOnly: boolean,
): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, current_setting('server_version_num')::int AS version",
  );
  const { standby, pid, version } = rows[0] as { standby: boolean; pid: number; version: number };
  if (version < MIN_SERVER_VERSION) {
    throw new LonghaulError(
      "STORE_FOREIGN",
      `The server of ${shown} is PostgreSQL ${Math.floor(version / 10_000)}; longhaul needs 14 or later.`,
      { details: { version } },
    );
  }
  if (standby && target === "read-write" && !isReadOnly)
    throw Object.assign(new Error("The connection leads to a standby"), { code: "ECONNREFUSED" });
  // A pooler answers the start of a connection itself and makes up a process id.
  if ((client as unknown as { processID: number }).processID !== pid) return true;
  await client.query("SET idle_in_transaction_session_timeout = '60s'; SET lock_timeout = '20s'");
  if (isReadOnly) await client.query("SET default_transaction_read_only = on");
  return false;
}

/** A connection in use; a failure means that it is broken. */
interface LentClient {
  readonly client: PoolClient;
  failure: unknown;
}

/**
 * Lends the connections of a pool one at a time. The one that came back last is kept out of the pool for the next
 * borrower, unless somebody waits for it: the queue, timers and listeners of a pool cost a tenth of an append.
 */
export class ClientLender {
  readonly #pool: Pool;
  readonly #keepMs: number;
  readonly #listeners = new WeakMap<LentClient, (error: Error) => void>();
  #kept: LentClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  #uses = 0;
  #isEnding = false;

  constructor(pool: Pool, keepMs = KEEP_MS) {
    this.#pool = pool;
    this.#keepMs = keepMs;
  }

  /** The kept connection at once, else one of the pool. */
  lend(): LentClient | Promise<LentClient> {
    const kept = this.#kept;
    if (!kept) return this.#connect();
    this.#kept = undefined;
    this.#uses++;
    return kept;
  }

  takeBack(lent: LentClient): void {
    const isNeeded = this.#kept !== undefined || this.#pool.waitingCount > 0 || this.#isEnding;
    if (isNeeded || lent.failure !== undefined) {
      this.#release(lent);
      return;
    }
    this.#kept = lent;
    this.#timer ??= this.#watch();
  }

  /** Ends all connections, those in use after their return. */
  end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#releaseKept();
    return this.#pool.end();
  }

  async #connect(): Promise<LentClient> {
    const client = await this.#pool.connect();
    const lent: LentClient = { client, failure: undefined };
    const onError = (error: Error) => {
      lent.failure = error;
      if (this.#kept === lent) this.#releaseKept();
    };
    client.on("error", onError);
    this.#listeners.set(lent, onError);
    return lent;
  }

  /** Returns the kept connection to the pool once nobody has used it for that long. */
  #watch(): NodeJS.Timeout {
    const uses = this.#uses;
    return setTimeout(() => {
      this.#timer = undefined;
      if (this.#uses === uses) this.#releaseKept();
      else if (this.#kept) this.#timer = this.#watch();
    }, this.#keepMs).unref();
  }

  #releaseKept(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept) this.#release(kept);
  }

  #release(lent: LentClient): void {
    const listener = this.#listeners.get(lent);
    if (listener) lent.client.off("error", listener);
    // A broken connection is not used again.
    lent.client.release(lent.failure !== undefined);
  }
}
