import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { rateOf } from "../../measure/rate.ts";
import type { BenchMessage } from "../../peers/contestant.ts";
import { atLeastOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { BareLoop, encodeMessage } from "./bare-loop.ts";
import { LOG_FILE, SESSION_ID } from "./longhaul.ts";
import { warmUpLength } from "./warm-up.ts";

interface Plan {
  readonly rounds: number;
  readonly perRound: number;
  /** Number of concurrent appends. */
  readonly groupSize: number;
  readonly warmUp: number;
}

interface Arena {
  readonly kernel: Kernel;
  readonly session: Session;
  readonly bare: BareLoop;
  readonly encoded: BareLoop;
}

/** Appends per second of longhaul and of bare loops with and without encoding, in alternating rounds. */
export async function raceBareLoop({ rounds, perRound, groupSize, warmUp }: Plan, place: ChildPlace) {
  const corpus = openCorpus(place.corpusFolder);
  const throwaway = await openArena(place.folder, "warm-up");
  await alternate(1, contestIn(throwaway, corpus, warmUp, groupSize));
  await closeArena(throwaway);
  const arena = await openArena(place.folder, "race");
  const rates = await alternate(rounds, contestIn(arena, corpus, perRound, groupSize));
  await closeArena(arena);
  requireSameRows(["longhaul", "bare", "encoded"].map((part) => join(place.folder, `race-${part}`)));
  return { longhaul: median(rates.longhaul), bare: median(rates.bare), encoded: median(rates.encoded) };
}

async function openArena(parentFolder: string, name: string): Promise<Arena> {
  const folder = (part: string) => join(parentFolder, `${name}-${part}`);
  const kernel = await openKernel({ path: folder("longhaul") });
  return {
    kernel,
    session: await kernel.session(SESSION_ID),
    bare: await BareLoop.open(folder("bare")),
    encoded: await BareLoop.open(folder("encoded")),
  };
}

async function closeArena({ kernel, bare, encoded }: Arena): Promise<void> {
  bare.close();
  encoded.close();
  await kernel.close();
}

function contestIn({ session, bare, encoded }: Arena, corpus: Corpus, count: number, groupSize: number) {
  const messages = (round: number) => corpus.messages(round * count, (round + 1) * count);
  return {
    longhaul: (round: number) => rateOf(messages(round), (items) => appendAll(session, items, groupSize)),
    bare: (round: number) => rateOf(messages(round), (items) => bare.insert(items, groupSize, encodeMessage)),
    encoded: (round: number) =>
      rateOf(messages(round).map(encodeMessage), (items) => encoded.insert(items, groupSize, (item) => item)),
  };
}

async function appendAll(
  session: Session,
  messages: readonly BenchMessage[],
  groupSize: number,
): Promise<void> {
  if (groupSize === 1) {
    for (const { role, text } of messages) await session.append({ role, text });
    return;
  }
  for (let at = 0; at < messages.length; at += groupSize) {
    const group = messages.slice(at, at + groupSize);
    await Promise.all(group.map(({ role, text }) => session.append({ role, text })));
  }
}

/** The comparison is valid only if all stores contain the same rows. */
function requireSameRows(folders: readonly string[]): void {
  const sums = folders.map((folder) => {
    const database = new DatabaseSync(join(folder, LOG_FILE), { readOnly: true });
    const sums = "count(*) AS rows, sum(length(payload)) AS bytes, sum(key) AS keys, sum(kind) AS kinds";
    const row = JSON.stringify(database.prepare(`SELECT ${sums} FROM entries`).get());
    database.close();
    return row;
  });
  if (new Set(sums).size !== 1) throw new Error(`the stores hold different rows: ${sums.join(" ")}`);
}

function measurement(id: string, beside: string, groupSize: number, share: number): Measurement {
  return {
    name: id,
    async *run(bench) {
      const perRound = (bench.isQuick ? 25 : 400) * 32;
      const plan = { rounds: 5, perRound, groupSize, warmUp: warmUpLength(bench) };
      const rates = await bench.child("longhaul and bare loops", import.meta.url, raceBareLoop, plan);
      const found = { id, value: rates.longhaul, unit: "messages/s" };
      yield toRow({ ...found, beside, besideValue: rates.bare, goal: atLeastOfBeside(share) });
      yield toRow({
        ...found,
        id: `${id}.encoded`,
        beside: "the same, rows encoded beforehand",
        besideValue: rates.encoded,
      });
    },
  };
}

/** Awaited single appends compared with the limit. */
export const appendSingle = measurement("append.single", "bare insert loop, same rows", 1, 0.7);

/** 32 concurrent appends compared with the limit. */
export const appendConcurrent = measurement(
  "append.concurrent",
  "bare insert loop, 32 a transaction",
  32,
  0.9,
);
