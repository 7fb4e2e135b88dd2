import type { Bench } from "./bench.ts";
import type { Row } from "./result.ts";

/** The measurements of one subject, in the order they run. */
export interface Suite {
  readonly measurements: readonly Measurement[];
}

/** A measurement; it runs its work in children of the bench and yields each row as soon as it is ready. */
export interface Measurement {
  readonly name: string;
  run(bench: Bench): AsyncIterable<Row>;
}
