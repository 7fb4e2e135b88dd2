import { join } from "node:path";
import { migrateStore } from "../../../src/kernel/faces/log.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import type { ChildPlace } from "../../child-job.ts";
import { median } from "../../measure/percentile.ts";
import { atMostOfBeside, type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { findDataSet } from "../recall/data-folder.ts";
import { readLocomo } from "../recall/locomo.ts";
import { readLongMemEval } from "../recall/longmemeval.ts";
import { type OpenRecall, openRecall } from "../recall/open-recall.ts";
import type { Question } from "../recall/question.ts";
import { average, meanWithInterval, type Score, scoreOrder } from "../recall/scores.ts";
import { withBenchServer, withSchema } from "./bench-server.ts";

interface Plan {
  readonly locomo: string | undefined;
  readonly longmemeval: string | undefined;
  readonly every: number;
}

/** The same questions, asked of one store that holds all scopes. */
const ENGINES = ["sqlite", "postgres"] as const;
type Engine = (typeof ENGINES)[number];

interface AskedOnce {
  readonly set: string;
  readonly scores: Readonly<Record<Engine, Score>>;
  readonly ms: Readonly<Record<Engine, number>>;
}

interface Outcome {
  readonly asked: readonly AskedOnce[];
  readonly chunks: number;
}

/** More than there are candidates. */
const ALL_HITS = 1_000;
/** For data sets without dates: times of the log, a minute apart. */
const FIRST_MS = Date.UTC(2024, 0, 1);
const APART_MS = 60_000;

/** The sessions of all scopes in one log; sessions of a scope have its number as prefix. */
async function fillStore({ log }: OpenRecall, scopes: readonly Question["items"][]) {
  const places = new Map<string, number>();
  for (const [scope, items] of scopes.entries()) {
    const bySession = Map.groupBy(items.entries(), ([, item]) => item.session);
    for (const [session, said] of bySession) {
      const id = `${scope}/${session}`;
      await log.store.sessions.open({ id, createdAt: 1 });
      const ready = await Promise.all(
        said.map(async ([place, { role, text, speaker, atMs }]) => {
          const message = { role, text, ...(speaker !== null && { meta: { speaker } }) };
          return { ...(await log.prepare(message)), at: atMs ?? FIRST_MS + place * APART_MS };
        }),
      );
      const entries = await log.append(id, ready);
      for (const [index, { seq }] of entries.entries())
        places.set(`${id} ${seq}`, said[index]?.[0] as number);
    }
  }
  return places;
}

/** Asks all questions of all engines, in turn. */
export async function askEngines(plan: Plan, place: ChildPlace): Promise<Outcome> {
  const sample = (all: readonly Question[]) => all.filter((_, index) => index % plan.every === 0);
  const questions = [
    ...(plan.locomo ? sample(readLocomo(plan.locomo)) : []),
    ...(plan.longmemeval ? sample(readLongMemEval(plan.longmemeval).questions) : []),
  ].filter(({ gold }) => gold.length > 0);
  const scopes = [...new Set(questions.map(({ items }) => items))];
  return withBenchServer(async (url) => {
    const path = join(place.folder, "sqlite");
    const sqlite = await openRecall(path);
    const places = await fillStore(sqlite, scopes);
    const store = withSchema(url, "quality", 10);
    await migrateStore(path, store);
    const engines: Record<Engine, OpenRecall> = {
      sqlite,
      postgres: await openRecall(await openPostgresStore({ url: store })),
    };
    for (const engine of ENGINES) await engines[engine].memory.catchUp();
    const asked: AskedOnce[] = [];
    for (const question of questions) {
      const prefix = `${scopes.indexOf(question.items)}/`;
      const results = {} as Record<Engine, { score: Score; ms: number }>;
      for (const engine of ENGINES) {
        const { memory, setNow } = engines[engine];
        setNow(question.askedAtMs ?? FIRST_MS + question.items.length * APART_MS);
        const { hits } = await memory.recall(question.text, { k: ALL_HITS, scope: { prefix } });
        // As the product asks; the texts of a thousand hits are read one by one.
        const startedMs = performance.now();
        await memory.recall(question.text, { scope: { prefix } });
        const ms = performance.now() - startedMs;
        const order = hits.flatMap((hit) =>
          hit.kind === "session" ? (places.get(`${hit.session} ${hit.seq}`) ?? []) : [],
        );
        results[engine] = { score: scoreOrder(order, question.gold), ms };
      }
      const pick = <T>(read: (result: { score: Score; ms: number }) => T) =>
        Object.fromEntries(ENGINES.map((engine) => [engine, read(results[engine])])) as Record<Engine, T>;
      asked.push({ set: question.set, scores: pick(({ score }) => score), ms: pick(({ ms }) => ms) });
    }
    const { chunks } = await engines.postgres.log.store.memory.totals();
    for (const engine of ENGINES) await engines[engine].close();
    return { asked, chunks };
  });
}

const MEASURES = ["any5", "all10", "fraction10"] as const;

/** Figures and times of recall on the data sets of the recall bench, next to the embedded store. */
export const recallQuality: Measurement = {
  name: "recall-quality",
  async *run(bench) {
    const plan = {
      locomo: findDataSet(bench, "locomo"),
      longmemeval: findDataSet(bench, "longmemeval-s"),
      every: bench.isQuick ? 12 : 2,
    };
    if (plan.locomo === undefined && plan.longmemeval === undefined) return;
    const { asked, chunks } = await bench.child("recall", import.meta.url, askEngines, plan);
    bench.note(`One store of ${chunks} chunks.`);
    for (const set of new Set(asked.map((one) => one.set))) {
      const own = asked.filter((one) => one.set === set);
      for (const measure of MEASURES) {
        const { mean, low, high } = meanWithInterval(own.map(({ scores }) => scores.sqlite[measure]));
        yield toRow({
          id: `recall.${set}.${measure}`,
          value: average(own.map(({ scores }) => scores.postgres[measure])),
          unit: `n=${own.length}`,
          beside: "the embedded store",
          besideValue: mean,
          goal: within(low, high),
        });
      }
      yield toRow({
        id: `recall.${set}.ms`,
        value: median(own.map(({ ms }) => ms.postgres)),
        unit: "ms",
        beside: "the embedded store",
        besideValue: median(own.map(({ ms }) => ms.sqlite)),
        goal: atMostOfBeside(3),
      });
    }
  },
};

function within(low: number, high: number): Goal {
  return {
    text: `${low.toFixed(3)} to ${high.toFixed(3)}`,
    isMet: (value) => value >= low && value <= high,
  };
}
