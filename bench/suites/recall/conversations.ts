import { join } from "node:path";
import type { ChildTask } from "../../child-job.ts";
import type { Measurement } from "../../suite.ts";
import { type Asked, askAll, userTurnsOnly } from "./ask.ts";
import { readBeam } from "./beam.ts";
import { beamSizes, findDataSet } from "./data-folder.ts";
import { loadEmbedding } from "./load-embedding.ts";
import { readLocomo, withNamesInText } from "./locomo.ts";
import { readLongMemEval } from "./longmemeval.ts";
import { toRows } from "./rows.ts";

interface Input {
  readonly folder: string;
  readonly every: number;
  readonly set?: string;
}

/** Result of a child: one entry per question and level. */
interface Output {
  readonly asked: readonly Asked[];
  readonly notes: readonly string[];
}

/** LongMemEval by its protocol: turns and sessions, with both roles and with user turns only. */
export const askLongMemEval: ChildTask<Input, Output> = async function askLongMemEval({ folder, every }) {
  const { questions, abstained } = readLongMemEval(folder);
  const chosen = sample(questions, every);
  const both = chosen.filter(({ gold }) => gold.length > 0);
  const user = chosen.flatMap((question) => userTurnsOnly(question) ?? []);
  const asked = [...(await askAll(both, ".both", true)), ...(await askAll(user, ".user", true))];
  return {
    asked,
    notes: [`longmemeval: ${abstained} questions without an answer left out`, ...withoutVectors()],
  };
};

/** LoCoMo by its protocol, and with the names in the text only. */
export const askLocomo: ChildTask<Input, Output> = async function askLocomo({ folder, every }) {
  const questions = sample(readLocomo(folder), every);
  const asked = [
    ...(await askAll(questions, "", false)),
    ...(await askAll(withNamesInText(questions), ".names-in-text", false)),
  ];
  return { asked, notes: withoutVectors() };
};

/** One size of BEAM by its protocol. */
export const askBeam: ChildTask<Input, Output> = async function askBeam({ folder, every, set = "beam" }) {
  return { asked: await askAll(sample(readBeam(folder, set), every), "", false), notes: withoutVectors() };
};

function sample<T>(all: readonly T[], every: number): T[] {
  return all.filter((_, index) => index % every === 0);
}

function withoutVectors(): string[] {
  return loadEmbedding() === null ? ["Without vectors: the embedder's weights are not there."] : [];
}

const EVERY_WHEN_QUICK = 12;

function measurement(name: string, task: ChildTask<Input, Output>): Measurement {
  return {
    name,
    async *run(bench) {
      const found = findDataSet(bench, name === "longmemeval" ? "longmemeval-s" : name);
      if (found === undefined) return;
      const sizes = name === "beam" ? beamSizes(found) : [null];
      for (const size of sizes) {
        const folder = size === null ? found : join(found, size);
        const set = size === null ? name : `${name}-${size}`;
        const input = { folder, every: bench.isQuick ? EVERY_WHEN_QUICK : 1, set };
        const { asked, notes } = await bench.child(set, import.meta.url, task, input);
        for (const note of notes) bench.note(note);
        yield* toRows(asked, !bench.isQuick);
      }
    },
  };
}

/** Questions over conversations. */
export const conversations: readonly Measurement[] = [
  measurement("longmemeval", askLongMemEval),
  measurement("locomo", askLocomo),
  measurement("beam", askBeam),
];
