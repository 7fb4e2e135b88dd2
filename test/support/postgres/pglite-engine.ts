import { type Extensions, PGlite } from "@electric-sql/pglite";
import { onTestFinished } from "vitest";
import {
  StatementTexts,
  type Transaction,
} from "../../../src/stores/postgres/connection/postgres-database.ts";
import type { SqlRow, SqlValue } from "../../../src/stores/postgres/connection/sql-values.ts";
import { MEMORY_TABLES, SERVER_TABLES } from "../../../src/stores/postgres/schema/tables.ts";

/**
 * PostgreSQL in this process with the tables of the index in the schema `store`; its extensions go to a schema that is
 * not on the search path.
 */
export async function openPgliteEngine(extensions: Extensions) {
  const engine = await PGlite.create({ extensions });
  onTestFinished(() => engine.close());
  await engine.exec("CREATE SCHEMA store; CREATE SCHEMA extensions");
  for (const name of Object.keys(extensions)) await engine.exec(`CREATE EXTENSION ${name} SCHEMA extensions`);
  const texts = new StatementTexts("store");
  type Runner = Pick<PGlite, "query" | "exec">;
  const toTransaction = (runner: Runner): Pick<Transaction, "query" | "execute"> => ({
    query: async (text: string, values: readonly SqlValue[] = []) =>
      (await runner.query(texts.complete(text).text, [...values])).rows as SqlRow[],
    execute: async (text: string) => {
      await runner.exec(texts.complete(text).text);
    },
  });
  const outside = toTransaction(engine);
  await outside.execute(MEMORY_TABLES);
  await outside.execute(SERVER_TABLES);
  return {
    schema: "store",
    query: outside.query,
    execute: outside.execute,
    transact: <T>(work: (transaction: Transaction) => Promise<T>) =>
      engine.transaction((runner) => work(toTransaction(runner as unknown as Runner) as Transaction)),
  };
}
