import { join } from "node:path";
import { openKernel } from "../../../src/kernel/index.ts";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { megabytes, settledMemory } from "../../measure/memory.ts";
import { type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { contestantOf } from "./contestants.ts";
import { fewImages, keepDistinct, netPeakBytes } from "./images.ts";
import { SESSION_ID } from "./longhaul.ts";
import { counted } from "./sizes.ts";
import { warmUp } from "./warm-up.ts";

interface Stress {
  readonly seconds: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

interface Plan {
  readonly count: number;
}

const MESSAGES_PER_TASK = 100;
const WARM_UP = 1_000;

/** Appends messages to one session. */
export async function stressMessages({ count }: Plan, place: ChildPlace): Promise<Stress> {
  const corpus = openCorpus(place.corpusFolder);
  return stress(place, async (folder) => {
    await using kernel = await openKernel({ path: folder });
    const session = await kernel.session(SESSION_ID);
    for (let index = 0; index < count; index++) {
      const { role, text } = corpus.message(index);
      await session.append({ role, text });
    }
  });
}

/** Runs tasks: child sessions that are opened, filled, paged and closed, all under one parent. */
export async function stressTasks({ count }: Plan, place: ChildPlace): Promise<Stress> {
  const corpus = openCorpus(place.corpusFolder);
  return stress(place, async (folder) => {
    await using kernel = await openKernel({ path: folder });
    const parent = await kernel.session(SESSION_ID);
    for (let task = 0; task < count; task++) {
      await using child = await parent.child();
      for (const { role, text } of corpus.messages(
        task * MESSAGES_PER_TASK,
        (task + 1) * MESSAGES_PER_TASK,
      )) {
        await child.append({ role, text });
      }
      await child.page();
    }
  });
}

async function stress(place: ChildPlace, work: (folder: string) => Promise<void>): Promise<Stress> {
  await warmUp(contestantOf("longhaul"), openCorpus(place.corpusFolder), place.folder, WARM_UP);
  const before = await settledMemory();
  const startedMs = performance.now();
  await work(join(place.folder, "store"));
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await settledMemory();
  return {
    seconds,
    heapBytes: after.heapBytes - before.heapBytes,
    rssBytes: after.rssBytes - before.rssBytes,
  };
}

function* rowsOf(what: string, count: number, { seconds, heapBytes, rssBytes }: Stress): Generator<Row> {
  yield toRow({ id: `seed.${what}.time`, value: seconds, unit: `s for ${counted(count)}` });
  yield toRow({ id: `seed.${what}.heap`, value: megabytes(heapBytes), unit: "MB growth" });
  yield toRow({ id: `seed.${what}.rss`, value: megabytes(rssBytes), unit: "MB growth" });
}

/** The original stress tests of the project. memory.append covers a million messages. */
export const seed: Measurement = {
  name: "seed",
  async *run(bench: Bench) {
    const messages = bench.isQuick ? 2_000 : 10_000;
    const images = fewImages(bench);
    const tasks = bench.isQuick ? 20 : 100;
    const run = (what: string, task: typeof stressMessages, count: number) =>
      bench.child(what, import.meta.url, task, { count });
    yield* rowsOf("messages", messages, await run("messages", stressMessages, messages));
    const kept = await keepDistinct(bench, "longhaul", images);
    const rssBytes = await netPeakBytes(bench, kept, images);
    yield* rowsOf("images", images, { ...kept, heapBytes: kept.heapGrowthBytes, rssBytes });
    yield* rowsOf("tasks", tasks, await run("tasks", stressTasks, tasks));
  },
};
