import pg from "pg";
import { type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import { KIND_NUMBERS } from "../../../src/log/store/entry-store.ts";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { rateOf } from "../../measure/rate.ts";
import type { BenchMessage } from "../../peers/contestant.ts";
import { atLeastOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { encodeMessage } from "../log/bare-loop.ts";
import { withBenchServer, withSchema } from "./bench-server.ts";

interface Plan {
  readonly writers: number;
  readonly rounds: number;
  readonly perRound: number;
}

/** The limit: as many connections as writers, each with a loop of one prepared insert into a plain table. */
class BareWriters {
  readonly #clients: readonly pg.Client[];
  readonly #seqs: number[];

  private constructor(clients: readonly pg.Client[]) {
    this.#clients = clients;
    this.#seqs = clients.map(() => 0);
  }

  static async open(url: string, writers: number): Promise<BareWriters> {
    const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString: url }));
    for (const client of clients) await client.connect();
    await clients[0]?.query(
      `CREATE TABLE IF NOT EXISTS bare (session bigint, seq integer, kind smallint NOT NULL, at bigint NOT NULL,
         payload bytea NOT NULL, PRIMARY KEY (session, seq))`,
    );
    return new BareWriters(clients);
  }

  async insert(writer: number, message: BenchMessage): Promise<void> {
    const seq = (this.#seqs[writer] ?? 0) + 1;
    this.#seqs[writer] = seq;
    await this.#clients[writer]?.query({
      name: "insert",
      text: "INSERT INTO bare (session, seq, kind, at, payload) VALUES ($1, $2, $3, $4, $5)",
      values: [writer, seq, KIND_NUMBERS["message"], Date.now(), encodeMessage(message)],
    });
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.end();
  }
}

/** Appends per second of writers with a kernel each, of writers that share one, and of bare inserts, in turn. */
export async function raceBareInserts({ writers, rounds, perRound }: Plan, place: ChildPlace) {
  return withBenchServer(async (url) => {
    const corpus = openCorpus(place.corpusFolder);
    const bare = await BareWriters.open(url, writers);
    const store = withSchema(url, `bench_${writers}`);
    const kernels: Kernel[] = [];
    const sessions: Session[] = [];
    for (let writer = 0; writer < writers; writer++) {
      const kernel = await openKernel({ store, embedder: null, monitor: false });
      kernels.push(kernel);
      sessions.push(await kernel.session(`apart-${writer}`));
    }
    const shared: Session[] = [];
    for (let writer = 0; writer < writers; writer++)
      shared.push(await (kernels[0] as Kernel).session(`shared-${writer}`));
    const append =
      (list: readonly Session[]) =>
      async (writer: number, { role, text }: BenchMessage) => {
        await list[writer]?.append({ role, text });
      };
    const contest = contestOf(corpus, writers, perRound);
    const contestants = {
      apart: contest(append(sessions)),
      shared: contest(append(shared)),
      bare: contest((writer, message) => bare.insert(writer, message)),
    };
    await alternate(1, contestants);
    const rates = await alternate(rounds, contestants);
    for (const kernel of kernels) await kernel.close();
    await bare.close();
    return { apart: median(rates.apart), shared: median(rates.shared), bare: median(rates.bare) };
  });
}

function contestOf(corpus: Corpus, writers: number, perRound: number) {
  return (write: (writer: number, message: BenchMessage) => Promise<void>) => (round: number) =>
    rateOf(corpus.messages(round * perRound, (round + 1) * perRound), async (messages) => {
      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          for (let at = writer; at < messages.length; at += writers)
            await write(writer, messages[at] as BenchMessage);
        }),
      );
    });
}

function measurement(writers: number): Measurement {
  const id = `append.writers-${writers}`;
  return {
    name: id,
    async *run(bench) {
      const plan = { writers, rounds: 5, perRound: bench.isQuick ? 400 : 4_000 };
      const rates = await bench.child("kernels and bare inserts", import.meta.url, raceBareInserts, plan);
      const beside = { unit: "messages/s", beside: "bare inserts of the same rows", besideValue: rates.bare };
      yield toRow({ id, value: rates.apart, ...beside, goal: atLeastOfBeside(0.6) });
      if (writers > 1) yield toRow({ id: `${id}.one-kernel`, value: rates.shared, ...beside });
    },
  };
}

/** Appends of writers next to the limit; each writer is a kernel with connections of its own. */
export const appendRates: readonly Measurement[] = [1, 4, 16].map(measurement);
