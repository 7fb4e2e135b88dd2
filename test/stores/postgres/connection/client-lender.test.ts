import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { ClientLender } from "../../../../src/stores/postgres/connection/connect-pool.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  createSchemaUrl,
  describeProblem,
  findTestPostgres,
} from "../../../support/postgres/test-postgres.ts";

const server = await findTestPostgres();

function createLender(max: number) {
  const connectionString = createSchemaUrl(server).replace(/\?.*$/, "");
  const pool = new pg.Pool({ connectionString, max });
  pool.on("error", () => undefined);
  const lender = new ClientLender(pool, 50);
  let isEnded = false;
  const end = () => {
    isEnded = true;
    return lender.end();
  };
  onTestFinished(() => (isEnded ? undefined : end()));
  return { pool, lender, end };
}

describe.skipIf("problem" in server)(`lending connections (${describeProblem(server)})`, () => {
  test("the last connection is kept for the next borrower, or given to a waiting one", async () => {
    const { pool, lender } = createLender(1);
    const first = await lender.lend();
    const waiting = lender.lend();
    lender.takeBack(first);
    const second = await waiting;
    expect(second.client).toBe(first.client);
    lender.takeBack(second);
    expect(pool.idleCount).toBe(0);
    expect(lender.lend()).toBe(second);
    lender.takeBack(second);
    await eventually("a connection is idle", () => pool.idleCount > 0);
    const third = await lender.lend();
    expect(third.client).toBe(first.client);
    lender.takeBack(third);
  });

  test("a broken connection is not lent again", async () => {
    const { pool, lender } = createLender(2);
    const [broken, other] = [await lender.lend(), await lender.lend()];
    const { rows } = await broken.client.query("SELECT pg_backend_pid() AS pid");
    lender.takeBack(broken);
    await other.client.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
    await eventually("the broken connection has failed", () => broken.failure !== undefined);
    expect(pool.totalCount).toBe(1);
    other.failure = new Error("lost");
    lender.takeBack(other);
    const fresh = await lender.lend();
    expect([broken.client, other.client]).not.toContain(fresh.client);
    expect((await fresh.client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    lender.takeBack(fresh);
  });

  test("closing waits for connections in use and closes the kept one", async () => {
    const { pool, lender, end } = createLender(2);
    const [kept, used] = [await lender.lend(), await lender.lend()];
    lender.takeBack(kept);
    const ended = end();
    expect((await used.client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    lender.takeBack(used);
    await ended;
    expect(pool.totalCount).toBe(0);
  });
});
