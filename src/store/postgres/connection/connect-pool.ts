import type { Client, CustomTypesConfig, PoolClient, PoolConfig } from "pg";
import { LonghaulError } from "../../../model/errors.ts";
import { ClientLender } from "./client-lender.ts";
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
