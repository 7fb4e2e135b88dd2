import { join } from "node:path";
import { readQuestions } from "../../../src/cli/replaying/read-questions.ts";
import {
  type EvidenceCase,
  type EvidenceScore,
  scoreEvidence,
} from "../../../src/cli/replaying/replay-study.ts";
import type { ChildTask } from "../../child-job.ts";
import { findDataFolder } from "../../real-strings.ts";
import type { Goal } from "../../result.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

interface Question {
  readonly folder: string;
  readonly every: number;
  readonly settings: readonly EvidenceCase[];
}

/** Asks questions at the end of real conversations and looks for the answers in the window. */
export const askAll: ChildTask<Question, readonly EvidenceScore[]> = function askAll({
  folder,
  every,
  settings,
}) {
  return scoreEvidence(
    readQuestions(folder).filter((_, index) => index % every === 0),
    settings,
  );
};

const PEERS = ["cline", "roo", "openclaw", "anthropic-clear"];
const GOALS: Readonly<Record<number, number>> = { 32000: 90, 64000: 93, 128000: 97, 200000: 100 };

/** Whether the answer to a question is in the window, with and without paging evicted content back in. */
export const evidence: Measurement = {
  name: "evidence",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out evidence: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    for (const window of bench.isQuick ? [32_000] : [32_000, 64_000, 128_000, 200_000]) {
      const settings = [
        { policy: "longhaul", window, isPaging: true },
        ...["longhaul", ...PEERS].map((policy) => ({ policy, window, isPaging: false })),
      ];
      const question = { folder: join(data, "longmemeval-s"), every: bench.isQuick ? 12 : 1, settings };
      const scores = await bench.child(`evidence ${window / 1_000}k`, import.meta.url, askAll, question);
      for (const { policy, isPaging, questions, whole, sentTokens } of scores) {
        const goal = isPaging && !bench.isQuick ? atLeast(GOALS[window] ?? 0) : undefined;
        yield toRow({
          id: `evidence.${window / 1_000}k.${policy}${isPaging ? ".paged" : ""}`,
          value: (100 * whole) / questions,
          unit: `% of ${questions} questions, ${Math.round(sentTokens / questions / 1_000)}k tokens sent`,
          ...(goal && { goal }),
        });
      }
    }
  },
};

function atLeast(limit: number): Goal {
  return { text: `>= ${limit} %`, isMet: (value) => value >= limit };
}
