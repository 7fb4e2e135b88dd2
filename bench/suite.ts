import type { Bench } from "./bench.ts";
import type { Row } from "./result.ts";

/** One subject's measurements, in the order in which they run. */
export interface Suite {
  readonly measurements: readonly Measurement[];
}

/** Something that is measured; it runs its work in children of the bench and gives each row as soon as it has it. */
export interface Measurement {
  readonly name: string;
  run(bench: Bench): AsyncIterable<Row>;
}
