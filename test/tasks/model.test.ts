import * as fc from "fast-check";
import { expect } from "vitest";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { FakeTime } from "./model/fake-time.ts";
import { checkRecovered, checkRest } from "./model/invariants.ts";
import { schedules } from "./model/operations.ts";
import { World } from "./model/world.ts";

/** Enough for each order of two operations many times; `LONGHAUL_SCHEDULES=50000 LONGHAUL_SEED=random` looks for more. */
const SCHEDULES = Number(process.env.LONGHAUL_SCHEDULES ?? proofRounds(2_000, 100));
/** Independent schedules that share a store. */
const PER_STORE = 250;

sizedTest(
  `tasks keep their guarantees in ${SCHEDULES} schedules of starts, moves, kills, crashes, sleeps and ends`,
  async () => {
    let run = 0;
    let store = await openSqliteStore({ path: ":memory:" });
    const renew = async () => {
      await store.close();
      store = await openSqliteStore({ path: ":memory:" });
    };
    const property = fc.asyncProperty(schedules, async (operations) => {
      if (++run % PER_STORE === 0) await renew();
      const time = new FakeTime();
      const world = new World(store, time);
      try {
        for (const operation of operations) await world.carryOut(operation);
        await world.recover();
        await checkRecovered(store, world);
        await world.finish();
        await checkRest(store, world);
        await world.end();
        for (const { power, closing } of world.hosts) if (power.isOn) await closing;
      } catch (error) {
        // The next schedule, which may be a shrunk form of the failed one, must not take up its tasks.
        await renew();
        throw error;
      } finally {
        time.clear();
      }
    });
    try {
      await fc.assert(property, { numRuns: SCHEDULES });
    } finally {
      await store.close();
    }
    expect(run).toBeGreaterThanOrEqual(SCHEDULES);
  },
  600_000,
);
