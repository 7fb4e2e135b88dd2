import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "../../base/serial-queue.ts";
import { throwIfAborted } from "../../model/errors.ts";
import { PairReader } from "./pair-reader.ts";
import { readReaderWeights } from "./reader-weights.ts";

/** Scores passages by how well they answer a question; scores of different questions are comparable. */
export interface CandidateReader {
  /** A score for each passage, in order; higher is better. */
  read(
    question: string,
    passages: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly number[]>;
}

/** The packaged reader, loaded on first use. It takes about 30 ms of CPU for a passage and yields between passages. */
export function createPackagedReader(path?: URL | string): CandidateReader {
  let pairs: PairReader | undefined;
  const turns = new SerialQueue();
  return {
    async read(question, passages, { signal } = {}) {
      pairs ??= new PairReader(readReaderWeights(path));
      const reader = pairs;
      const scores: number[] = [];
      for (const passage of passages) {
        // One passage in a turn of the event loop, also while many recalls read at once.
        await turns.run(async () => {
          throwIfAborted(signal);
          scores.push(reader.score(question, passage));
          await setImmediate();
        });
      }
      return scores;
    },
  };
}
