import { join } from "node:path";
import { formatEntryId, openKernel } from "../../../src/kernel/index.ts";
import { decodeBody } from "../../../src/log/entry-body.ts";
import { connectDatabase } from "../../../src/stores/sqlite/connect-database.ts";
import { toEntryKey } from "../../../src/stores/sqlite/entry-key.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { rateOf } from "../../measure/rate.ts";
import { Random } from "../../random.ts";
import { atLeastOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { largeGrowth } from "./growth.ts";
import { LOG_FILE, SESSION_ID } from "./longhaul.ts";
import { counted, sizesOf } from "./sizes.ts";

interface Plan {
  readonly folder: string;
  readonly length: number;
  readonly rounds: number;
  readonly perRound: number;
}

const WARM_UP = 3_000;

/** Random lookups per second, by the kernel and by a bare prepared SELECT on its own connection. */
export async function lookUp({ folder, length, rounds, perRound }: Plan) {
  const kernel = await openKernel({ path: folder });
  const session = await kernel.session(SESSION_ID);
  const database = await connectDatabase(join(folder, LOG_FILE), {
    durability: "process",
    busyTimeoutMs: 30_000,
  });
  const select = database.prepare("SELECT key, at, kind, payload FROM entries WHERE key = ?");
  const sessionNumber = database.prepare("SELECT number FROM sessions WHERE id = ?").get(SESSION_ID)
    ?.number as number;
  const random = new Random(3);
  const draw = (count: number) => Array.from({ length: count }, () => random.between(1, length + 1));
  const selectTime = database.prepare("SELECT at FROM entries WHERE key = ?");
  const timeOf = (seq: number) => selectTime.get(toEntryKey(sessionNumber, seq))?.at as number;

  const contest = (count: number) => ({
    bare: () =>
      rateOf(
        draw(count).map((seq) => toEntryKey(sessionNumber, seq)),
        (keys) => {
          for (const key of keys) requireFound(select.get(key));
        },
      ),
    unpacked: () =>
      rateOf(
        draw(count).map((seq) => toEntryKey(sessionNumber, seq)),
        (keys) => {
          for (const key of keys) decodeBody("message", select.get(key)?.payload as Uint8Array);
        },
      ),
    halving: () =>
      rateOf(draw(count).map(timeOf), (times) => {
        for (const at of times) {
          let [low, high] = [1, length + 1];
          while (high - low > 1) {
            const middle = (low + high) >>> 1;
            if (timeOf(middle) <= at) low = middle;
            else high = middle;
          }
          decodeBody("message", select.get(toEntryKey(sessionNumber, low))?.payload as Uint8Array);
        }
      }),
    id: () =>
      rateOf(
        draw(count).map((seq) => formatEntryId(SESSION_ID, seq)),
        async (ids) => {
          for (const id of ids) requireFound(await session.entry(id));
        },
      ),
    seq: () =>
      rateOf(draw(count), async (seqs) => {
        for (const seq of seqs) requireFound(await session.entry(seq));
      }),
    time: () =>
      rateOf(draw(count).map(timeOf), async (times) => {
        for (const at of times) requireFound(await session.entryAt(at));
      }),
  });
  await alternate(1, contest(WARM_UP));
  const rates = await alternate(rounds, contest(perRound));
  database.close();
  await kernel.close();
  return {
    bare: median(rates.bare),
    unpacked: median(rates.unpacked),
    halving: median(rates.halving),
    id: median(rates.id),
    seq: median(rates.seq),
    time: median(rates.time),
  };
}

function requireFound(found: unknown): void {
  if (found === undefined) throw new Error("a lookup found nothing");
}

/**
 * Lookups anywhere in a very long session, compared with a SELECT of the row, with a SELECT plus decoding of the
 * message, and, by time, with a bisection of seqs by bare SELECTs.
 */
export const lookup: Measurement = {
  name: "lookup",
  async *run(bench) {
    const { large } = sizesOf(bench);
    const { folder } = await largeGrowth(bench);
    const plan = {
      folder,
      length: large,
      rounds: bench.isQuick ? 3 : 5,
      perRound: bench.isQuick ? 1_000 : 20_000,
    };
    const rates = await bench.child("longhaul and bare SELECT", import.meta.url, lookUp, plan);
    for (const by of ["id", "seq", "time"] as const) {
      yield toRow({
        id: `lookup.${by}`,
        value: rates[by],
        unit: "lookups/s",
        beside: `bare SELECT by key, ${counted(large)} rows`,
        besideValue: rates.bare,
        goal: atLeastOfBeside(0.5),
      });
    }
    for (const [id, value, beside, besideValue] of [
      ["lookup.id.unpacked", rates.id, "bare SELECT by key, row unpacked", rates.unpacked],
      ["lookup.seq.unpacked", rates.seq, "bare SELECT by key, row unpacked", rates.unpacked],
      ["lookup.time.halving", rates.time, "bare SELECTs halving the seqs", rates.halving],
    ] as const) {
      yield toRow({ id, value, unit: "lookups/s", beside, besideValue });
    }
  },
};
