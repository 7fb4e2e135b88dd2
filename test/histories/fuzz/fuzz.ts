import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Format } from "../../../src/histories/port/format.ts";
import { type FuzzPlaces, makeCase } from "./fuzz-case.ts";
import { Lane } from "./lane.ts";
import type { Sample } from "./sample.ts";

/** Content of the file that no case may read. */
export const SECRET_WORDS = "words that nobody named";

/** Options of a fuzz run. */
export interface FuzzOptions {
  readonly samples: readonly Sample[];
  readonly formats: readonly Format[];
  readonly seed: number;
  /** Cases of all samples together. */
  readonly count: number;
  readonly folder: string;
  /** Fails by throwing. */
  readonly run: (folder: string, formats: readonly Format[], seed: number) => Promise<unknown>;
}

const MAX_CASE_MS = 60_000;
const MAX_FAILURES = 10;
/** Samples read at once. More would start a process for most databases, because only one process waits for the next. */
const LANES = 2;

/** Corrupts samples at random and runs each case. Throws with the first failures. */
export async function fuzz(options: FuzzOptions): Promise<void> {
  const { folder, samples, count } = options;
  const secret = join(folder, "secret.txt");
  writeFileSync(secret, SECRET_WORDS);
  const failures: string[] = [];
  const waiting = [...samples.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, sample] = next;
      const cases = Math.floor(count / samples.length) + (index < count % samples.length ? 1 : 0);
      const lane = new Lane(join(folder, `sample-${index}`));
      mkdirSync(lane.folder);
      const places = { database: join(folder, `sample-${index}.db`), secret };
      for (let number = 0; number < cases && failures.length < MAX_FAILURES; number++) {
        const failure = await runCase(
          options,
          sample,
          options.seed + number * samples.length + index,
          lane,
          places,
        );
        if (failure) failures.push(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, work));
  if (failures.length > 0) throw new Error(failures.join("\n\n"));
}

async function runCase(
  { formats, run }: FuzzOptions,
  sample: Sample,
  seed: number,
  lane: Lane,
  places: FuzzPlaces,
): Promise<string | undefined> {
  const { changes, files } = makeCase(sample, seed, places);
  lane.hold(files);
  const startedAt = performance.now();
  const failure = (what: string) =>
    `${sample.format}, ${sample.name}, seed ${seed} (${changes.join("; ")}): ${what}`;
  try {
    await run(
      lane.folder,
      formats.filter(({ name }) => name === sample.format),
      seed,
    );
  } catch (error) {
    return failure(String((error as Error).stack));
  }
  const took = performance.now() - startedAt;
  return took < MAX_CASE_MS ? undefined : failure(`it took ${Math.round(took)} ms`);
}
