import { fileURLToPath } from "node:url";
import { openKernel } from "../../../src/kernel/index.ts";
import type { ChildTask } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { percentile } from "../../measure/percentile.ts";
import { CHUNKS_PER_MESSAGE, questions } from "../memory/open-memory.ts";
import { startServer } from "./server-process.ts";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const MESSAGES_PER_SESSION = 20;
const DAY_MS = 86_400_000;
/** Half of the sessions belong to the project that asks. */
const PROJECTS = ["/repo/shop", "/repo/site"] as const;

interface StoreQuestion {
  readonly folder: string;
  readonly chunks: number;
}

interface AnswersQuestion extends StoreQuestion {
  readonly recalls: number;
  readonly era: string;
}

/** Figures of one server process. */
interface AnswersFigures {
  readonly startMs: number;
  readonly firstMs: number;
  readonly p50: number;
  readonly p99: number;
  readonly rssBytes: number;
}

/** Writes sessions of two projects and indexes them. */
export const writeStore: ChildTask<StoreQuestion, null> = async function writeStore(
  { folder, chunks },
  place,
) {
  const corpus = openCorpus(place.corpusFolder);
  // Conversations of another day: a recall reads the ends of those that may be running.
  const clock = { now: () => Date.now() - DAY_MS };
  await using kernel = await openKernel({ path: folder, clock });
  const count = chunks / CHUNKS_PER_MESSAGE;
  for (let from = 0; from < count; from += MESSAGES_PER_SESSION) {
    const cwd = PROJECTS[(from / MESSAGES_PER_SESSION) % PROJECTS.length] as string;
    await using session = await kernel.session(`claude-code/${from}`, { meta: { cwd } });
    const messages = corpus.messages(from, Math.min(count, from + MESSAGES_PER_SESSION));
    await session.appendAll(messages.map(({ role, text }) => ({ role, text })));
  }
  await kernel.memory.catchUp();
  return null;
};

/** Starts the built program as an agent does and asks it. */
export const measureAnswers: ChildTask<AnswersQuestion, AnswersFigures> = async function measureAnswers(
  { folder, chunks, recalls, era },
  place,
) {
  const all = questions(openCorpus(place.corpusFolder), chunks / CHUNKS_PER_MESSAGE, recalls + 1);
  const asked = all.filter((query) => query !== "");
  const args = ["--max-semi-space-size=8", MAIN, "mcp", "--store", folder, "--project", PROJECTS[0]];
  await using server = startServer(args, era);
  await server.open();
  const started = await server.sample();
  const cpu: number[] = [];
  let before = started.cpuMs;
  for (const query of asked) {
    const text = await server.callTool("recall", { query });
    if (!text.includes("memory-data") || !text.includes("conversations of other projects"))
      throw new Error(`a recall failed: ${text.slice(0, 200)}`);
    const { cpuMs } = await server.sample();
    cpu.push(cpuMs - before);
    before = cpuMs;
  }
  const { rssBytes } = await server.sample();
  const [firstMs = 0, ...later] = cpu;
  return {
    startMs: started.cpuMs,
    firstMs,
    p50: percentile(later, 0.5),
    p99: percentile(later, 0.99),
    rssBytes,
  };
};
