import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { collectGarbage } from "../../measure/memory.ts";
import { median } from "../../measure/percentile.ts";
import type { Conversation } from "../../peers/contestant.ts";
import { atMostOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { contestantOf } from "./contestants.ts";
import { smallGrowth } from "./growth.ts";
import { counted, sizesOf } from "./sizes.ts";
import { warmUp, warmUpLength } from "./warm-up.ts";

interface Plan {
  readonly names: readonly string[];
  readonly rounds: number;
  readonly perRound: number;
  readonly warmUpCount: number;
}

interface Pace {
  readonly p50Us: number;
  readonly perSecond: number;
}

/** Speed of awaited single appends, in alternating rounds on one conversation per contestant. */
export async function race(plan: Plan, place: ChildPlace): Promise<Record<string, Pace>> {
  const corpus = openCorpus(place.corpusFolder);
  const conversations: Conversation[] = [];
  const rounds: Record<string, (round: number) => Promise<Pace>> = {};
  for (const name of plan.names) {
    const contestant = contestantOf(name);
    await warmUp(contestant, corpus, place.folder, plan.warmUpCount);
    const conversation = await contestant.open(join(place.folder, name));
    conversations.push(conversation);
    rounds[name] = async (round) => {
      const messages = corpus.messages(round * plan.perRound, (round + 1) * plan.perRound);
      const tookUs = new Float64Array(messages.length);
      collectGarbage();
      const startedMs = performance.now();
      for (const [index, message] of messages.entries()) {
        const beforeMs = performance.now();
        await conversation.append(message);
        tookUs[index] = (performance.now() - beforeMs) * 1_000;
      }
      const seconds = (performance.now() - startedMs) / 1_000;
      return { p50Us: median(tookUs), perSecond: messages.length / seconds };
    };
  }
  const paces = await alternate(plan.rounds, rounds);
  for (const conversation of conversations) await conversation.close();
  return Object.fromEntries(
    Object.entries(paces).map(([name, results]) => [
      name,
      {
        p50Us: median(results.map(({ p50Us }) => p50Us)),
        perSecond: median(results.map(({ perSecond }) => perSecond)),
      },
    ]),
  );
}

function raceOf(bench: Bench, names: readonly string[], rounds: number, perRound: number) {
  const plan = { names, rounds, perRound, warmUpCount: warmUpLength(bench) };
  return bench.child(names.join(" and "), import.meta.url, race, plan);
}

/** longhaul and pi in one race; other peers are compared with longhaul's result in it. */
function raceWithPi(bench: Bench): Promise<Record<string, Pace>> {
  const run = (names: readonly string[]) => raceOf(bench, names, 5, bench.isQuick ? 800 : 10_000);
  return bench.once(
    "race with pi",
    async () => (await bench.beside("pi", () => run(["longhaul", "pi"]))) ?? (await run(["longhaul"])),
  );
}

/** Median of an awaited append compared with pi's, which writes a line to a file without syncing it. */
export const appendBesidePi: Measurement = {
  name: "append.single.p50",
  async *run(bench) {
    const { longhaul, pi } = await raceWithPi(bench);
    yield toRow({
      id: "append.single.p50",
      value: longhaul?.p50Us ?? null,
      unit: "µs",
      beside: "pi",
      besideValue: pi?.p50Us ?? null,
      goal: atMostOfBeside(1.5),
    });
  },
};

/** Awaited appends per second of the other peers; those whose cost grows with every message get fewer. */
async function* otherPeers(bench: Bench) {
  const { small } = sizesOf(bench);
  const grown = await bench.beside("mastra", () => smallGrowth(bench, "mastra"));
  yield { peer: "mastra", count: small, perSecond: grown?.appendsPerSecond ?? null };
  for (const { peer, full, quick } of [
    { peer: "langgraph", full: 300, quick: 20 },
    { peer: "whole-array", full: 1_000, quick: 60 },
  ]) {
    const count = bench.isQuick ? quick : full;
    const paces = await bench.beside(peer, () => raceOf(bench, [peer], 1, count));
    yield { peer, count, perSecond: paces?.[peer]?.perSecond ?? null };
  }
}

/** Awaited appends per second compared with the other peers: the ratio is the speedup. */
export const appendBesidePeers: Measurement = {
  name: "append.rate",
  async *run(bench) {
    const { longhaul } = await raceWithPi(bench);
    for await (const { peer, count, perSecond } of otherPeers(bench)) {
      yield toRow({
        id: `append.rate.${peer}`,
        value: longhaul?.perSecond ?? null,
        unit: "messages/s",
        beside: `${peer}, first ${counted(count)} messages`,
        besideValue: perSecond,
      });
    }
  },
};
