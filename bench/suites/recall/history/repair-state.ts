import { hasPassedTests, parseTestFailures, type TestFailure } from "./test-failures.ts";

/** A failed test that passed after an edit. */
interface Repair extends TestFailure {
  readonly fromMs: number;
}

interface OpenFailure extends Repair {
  hasEdit: boolean;
}

/** A run with more failures has one cause, which the first few show as well. */
const MAX_FAILURES = 3;

/** Follows failed tests until the first run of tests in which they no longer fail. */
export class RepairState {
  readonly #open = new Map<string, OpenFailure>();

  noteEdit(): void {
    for (const failure of this.#open.values()) failure.hasEdit = true;
  }

  /** Notes the output of a command; returns the failures that it shows as repaired. */
  noteOutput(output: string, atMs: number): readonly Repair[] {
    const failures = parseTestFailures(output);
    if (failures.length === 0 && !hasPassedTests(output)) return [];
    const names = new Set(failures.map(({ name }) => name));
    const repaired: Repair[] = [];
    for (const [name, failure] of this.#open) {
      if (names.has(name) || !failure.hasEdit) continue;
      repaired.push(failure);
      this.#open.delete(name);
    }
    for (const failure of failures.slice(0, MAX_FAILURES))
      if (!this.#open.has(failure.name))
        this.#open.set(failure.name, { ...failure, fromMs: atMs, hasEdit: false });
    return repaired;
  }
}
