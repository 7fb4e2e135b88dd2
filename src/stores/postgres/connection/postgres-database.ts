import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, PoolClient, QueryResult } from "pg";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { LonghaulError } from "../../../model/errors.ts";
import type { ConnectedPool } from "./connect-pool.ts";
import {
  classifyFailure,
  createRetry,
  findReaderRefusal,
  sqlStateOf,
  toPostgresError,
} from "./postgres-error.ts";
import { type SqlRow, type SqlValue, toSqlValue } from "./sql-values.ts";

/** Statements of one transaction, or single ones. */
export interface Sql {
  /** `@table` in the text stands for a table of the store's schema. */
  query(text: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
}

/** Statements that write; the caller decides whether a failed one runs again. */
export interface WritingSql {
  rows(text: string, values: readonly SqlValue[]): Promise<SqlRow[]>;
  /** The number of rows that were written. Cheaper than returned rows, which the server describes each time. */
  count(text: string, values: readonly SqlValue[]): Promise<number>;
}

/** A running transaction. */
export interface Transaction extends Sql {
  readonly writing: WritingSql;
  /** Several statements without parameters. */
  execute(text: string): Promise<void>;
  /** A statement of another package, with values and results as pg has them. */
  run(text: string, values?: unknown[]): Promise<QueryResult>;
}

/** How a transaction begins and is repeated. */
interface TransactOptions {
  /** Called when the connection was lost while it committed: whether it took effect is unknown. It runs again. */
  readonly onUnknown?: () => void;
}

/** Options of a database. */
interface DatabaseOptions {
  /** The database without its password, for messages. */
  readonly where: string;
  readonly schema: string;
  readonly busyTimeoutMs: number;
  readonly isReadOnly: boolean;
  /** Begins every transaction, those of single statements too. */
  readonly start?: string;
}

const MAX_PAUSE_MS = 250;
/** A write in a read-only transaction: a standby after a failover, unless we asked for it. */
const READ_ONLY_STATE = "25006";

/**
 * The connections of a store. Statements and transactions are repeated after a lost connection, a failover, a deadlock
 * or a lock that was not granted, up to `busyTimeoutMs`; all of ours may be repeated, or say so by `onUnknown`.
 */
export class PostgresDatabase {
  /** The database without its password, for messages. */
  readonly where: string;
  readonly schema: string;
  readonly #connected: ConnectedPool;
  readonly #isReadOnly: boolean;
  readonly #busyTimeoutMs: number;
  readonly #texts: StatementTexts;
  readonly #start: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(connected: ConnectedPool, options: DatabaseOptions) {
    const { where, schema, busyTimeoutMs, isReadOnly, start } = options;
    this.#connected = connected;
    this.#start = start;
    this.where = where;
    this.schema = schema;
    this.#isReadOnly = isReadOnly;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#texts = new StatementTexts(schema);
  }

  get isPooled(): boolean {
    return this.#connected.isPooled;
  }

  /** The same connections for reading; `start` is how each transaction begins, and restricts it. */
  restrict(start: string): PostgresDatabase {
    return new PostgresDatabase(this.#connected, {
      where: this.where,
      schema: this.schema,
      busyTimeoutMs: this.#busyTimeoutMs,
      isReadOnly: true,
      start,
    });
  }

  /** One statement by itself: a read, or a write that may run twice. */
  query(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.retry(() => this.once(text, values));
  }

  /** One statement by itself, not repeated; an error may leave open whether it took effect. */
  once(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#withClient(async (client) =>
      this.#start !== undefined || (this.#isReadOnly && this.isPooled)
        ? this.#transactOn(client, (transaction) => transaction.query(text, values))
        : (await this.#send(client, text, values)).rows,
    );
  }

  /** Single statements that are not repeated; an error may leave open whether one took effect. */
  readonly writing: WritingSql = {
    rows: (text, values) => this.once(text, values),
    count: async (text, values) => {
      const { rowCount } = await this.#withClient((client) => this.#send(client, text, values));
      return rowCount ?? 0;
    },
  };

  /** Runs `work` in a transaction; any throw rolls it back. */
  transact<T>(work: (transaction: Transaction) => Promise<T>, options: TransactOptions = {}): Promise<T> {
    return this.retry(() => this.#withClient((client) => this.#transactOn(client, work, options)));
  }

  /** Runs reads that must see one state. */
  snapshot<T>(work: (reads: Sql) => Promise<T>): Promise<T> {
    return this.retry(() =>
      this.#withClient((client) =>
        this.#transactOn(client, work, {}, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
      ),
    );
  }

  /** One statement outside a transaction that takes no parameters and may take long. */
  async command(text: string): Promise<void> {
    await this.retry(() =>
      this.#withClient(async (client) => {
        const statement = { text: this.#texts.complete(text).text, query_timeout: 86_400_000 };
        await client.query(statement);
      }),
    );
  }

  /** Statements of another package, with values and results as pg has them; repeated after lost connections. */
  run(text: string, values?: unknown[]): Promise<QueryResult> {
    return this.retry(() =>
      this.#withClient(async (client) => {
        try {
          return await this.#sendPlain(client, text, values);
        } catch (error) {
          // Several statements may have begun a transaction, which the next user of the connection would find.
          await client.query("ROLLBACK").catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  /** A separate connection; the caller ends it. */
  createClient(): Client {
    this.#assertOpen();
    return this.#connected.createClient();
  }

  /** Repeats an attempt until it succeeds, fails for good, or the time is over. */
  async retry<T>(attempt: () => Promise<T>, busyTimeoutMs = this.#busyTimeoutMs): Promise<T> {
    let deadline = 0;
    for (let round = 0; ; round++) {
      this.#assertOpen();
      try {
        return await attempt();
      } catch (error) {
        const refusal = this.#start === undefined ? undefined : findReaderRefusal(error, this.where);
        if (refusal) throw refusal;
        const isRefused = this.#isReadOnly && sqlStateOf(error) === READ_ONLY_STATE;
        if (isRefused || classifyFailure(error) === "final") throw toPostgresError(error, this.where);
        // Monotonic, because the wall clock may jump.
        const now = performance.now();
        deadline ||= now + busyTimeoutMs;
        if (now >= deadline) throw toPostgresError(error, this.where);
      }
      await sleep(Math.random() * Math.min(5 * 2 ** round, MAX_PAUSE_MS));
    }
  }

  /** Idempotent; waits for running statements. */
  close(): Promise<void> {
    this.#closing ??= this.#connected.clients.end();
    return this.#closing;
  }

  #assertOpen(): void {
    if (this.#closing) throw new LonghaulError("CLOSED", "This store is closed; open a new one.");
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const { clients } = this.#connected;
    const lent = await clients.lend();
    try {
      return await work(lent.client);
    } catch (error) {
      if (classifyFailure(error) === "connection") lent.failure ??= error;
      throw error;
    } finally {
      clients.takeBack(lent);
    }
  }

  async #transactOn<T>(
    client: PoolClient,
    work: (transaction: Transaction) => Promise<T>,
    { onUnknown }: TransactOptions = {},
    // A direct connection of a reader is read-only as a whole.
    begin = this.#isReadOnly ? "BEGIN READ ONLY" : "BEGIN",
  ): Promise<T> {
    // Not awaited: it travels with the first statement.
    const began = client.query(this.#start ?? begin);
    began.catch(() => undefined);
    const query = async (text: string, values: readonly SqlValue[] = []) =>
      (await this.#send(client, text, values)).rows;
    let result: T;
    try {
      result = await work({
        query,
        writing: {
          rows: query,
          count: async (text, values) => (await this.#send(client, text, values)).rowCount ?? 0,
        },
        execute: async (text) => {
          await client.query(this.#texts.complete(text).text);
        },
        run: (text, values) => this.#sendPlain(client, text, values),
      });
      await began;
    } catch (error) {
      // If it did not even begin, that is the reason for everything after.
      const reason = await began.then(
        () => error,
        (failure: unknown) => failure,
      );
      await client.query("ROLLBACK").catch(() => undefined);
      throw reason;
    }
    let committed: QueryResult;
    try {
      committed = await client.query("COMMIT");
    } catch (error) {
      if (classifyFailure(error) === "connection") onUnknown?.();
      throw error;
    }
    if (committed.command === "COMMIT") return result;
    throw createRetry("The transaction was rolled back by the server");
  }

  #sendPlain(client: PoolClient, text: string, values: unknown[] | undefined): Promise<QueryResult> {
    return client.query({ text, ...dropUndefined({ values }), types: this.#connected.plainTypes });
  }

  #send(client: PoolClient, source: string, values: readonly SqlValue[]): Promise<QueryResult<SqlRow>> {
    const { text, name } = this.#texts.complete(source);
    // A pooler may run the next statement on a connection that does not know the name.
    return client.query({ text, name: this.isPooled ? undefined : name, values: values.map(toSqlValue) });
  }
}

/** A statement with a name, under which a server keeps its plan. */
interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Statements by their source text; there are a few hundred at most, all written in our code. */
export class StatementTexts {
  readonly #schema: string;
  readonly #known = new Map<string, NamedStatement>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Replaces `@table` by the table of this store's schema. */
  complete(source: string): NamedStatement {
    let statement = this.#known.get(source);
    if (!statement) {
      const text = source.replace(/@([a-z_]+)/g, `"${this.#schema}".$1`);
      statement = { text, name: `lh_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` };
      this.#known.set(source, statement);
    }
    return statement;
  }
}
