import { join } from "node:path";
import { migrateStore } from "../../../src/kernel/faces/log.ts";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { atMostOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { withBenchServer, withSchema } from "./bench-server.ts";

interface Plan {
  readonly messages: number;
  readonly rounds: number;
}

const SESSION = "conversation";
const MODEL = "claude-sonnet-4-5";
const WINDOWS_PER_ROUND = 5;
const QUESTIONS_PER_ROUND = 10;

/** Milliseconds of the first window of a session and of a recall, on the same data in SQLite and in PostgreSQL. */
export async function compareReads({ messages, rounds }: Plan, place: ChildPlace) {
  return withBenchServer(async (url) => {
    const corpus = openCorpus(place.corpusFolder);
    const path = join(place.folder, "sqlite");
    const store = withSchema(url, "reads", 10);
    const sqlite = await openKernel({ path, monitor: false });
    const session = await sqlite.session(SESSION);
    const all = corpus.messages(0, messages);
    for (let at = 0; at < all.length; at += 500)
      await session.appendAll(all.slice(at, at + 500).map(({ role, text }) => ({ role, text })));
    await sqlite.flush();
    await migrateStore(path, store);
    const postgres = await openKernel({ store, monitor: false });
    for (const kernel of [sqlite, postgres]) await kernel.memory.catchUp();
    const questions = all
      .filter((_, index) => index % Math.floor(messages / QUESTIONS_PER_ROUND) === 0)
      .map(({ text }) => text.split(/\s+/).slice(0, 12).join(" "));
    const contest = (kernel: Kernel) => async () => ({
      windowMs: await timeOf(() => buildWindows(kernel)),
      recallMs: await timeOf(() => recallAll(kernel, questions)),
    });
    const contestants = { sqlite: contest(sqlite), postgres: contest(postgres) };
    await alternate(1, contestants);
    const times = await alternate(rounds, contestants);
    await sqlite.close();
    await postgres.close();
    const middle = (found: readonly { windowMs: number; recallMs: number }[]) => ({
      windowMs: median(found.map(({ windowMs }) => windowMs)) / WINDOWS_PER_ROUND,
      recallMs: median(found.map(({ recallMs }) => recallMs)) / questions.length,
    });
    return { sqlite: middle(times.sqlite), postgres: middle(times.postgres) };
  });
}

async function buildWindows(kernel: Kernel): Promise<void> {
  for (let count = 0; count < WINDOWS_PER_ROUND; count++) {
    const session = await kernel.session(SESSION);
    await session.window({ model: MODEL }).look();
    await session.close();
  }
}

async function recallAll(kernel: Kernel, questions: readonly string[]): Promise<void> {
  for (const question of questions) await kernel.memory.recall(question);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Windows and recall next to the embedded store. */
export const reads: Measurement = {
  name: "reads",
  async *run(bench) {
    const plan = { messages: bench.isQuick ? 1_000 : 10_000, rounds: 7 };
    const { sqlite, postgres } = await bench.child("windows and recall", import.meta.url, compareReads, plan);
    const beside = { unit: "ms", beside: "the embedded store", goal: atMostOfBeside(3) };
    yield toRow({ id: "window.first", value: postgres.windowMs, besideValue: sqlite.windowMs, ...beside });
    yield toRow({ id: "recall", value: postgres.recallMs, besideValue: sqlite.recallMs, ...beside });
  },
};
