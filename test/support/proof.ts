import { type TaskMeta, type TestAPI, test } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** True for a test that only a proof runs. */
    isProof?: boolean;
    /** True for a test that is longer in a proof. */
    isSized?: boolean;
  }
}

/** True in `npm run proof`, which runs the long proofs in full. */
export const isProof = process.env.LONGHAUL_PROOF === "1";

/** The number of cases or rounds to run: `full` in a proof, `everyday` in the everyday suite. */
export function proofRounds(full: number, everyday = Math.max(5, Math.ceil(full / 20))): number {
  return isProof ? full : Math.min(full, everyday);
}

/** The cases to run: all of them in a proof, the first `count` in the everyday suite. */
export function proofCases<const Case>(cases: readonly Case[], count = 1): readonly Case[] {
  return isProof ? cases : cases.slice(0, count);
}

type ProofTest = typeof test.skip;
type Define = (title: string, options: object, body: unknown) => void;

/** Passes tests on to `api` with a mark; options come second, or a limit of time last, as for `test`. */
function markTests(api: ProofTest, meta: TaskMeta): ProofTest {
  const mark = (define: unknown) => (title: string, second: unknown, third?: unknown) => {
    const hasOptions = typeof second === "object";
    const options = hasOptions ? (second as object) : { ...(third !== undefined && { timeout: third }) };
    (define as Define)(title, { ...options, meta }, hasOptions ? third : second);
  };
  const lists = {
    each: (cases: readonly unknown[]) => mark(api.each(cases)),
    for: (cases: readonly unknown[]) => mark(api.for(cases)),
    fails: mark(api.fails),
  };
  return Object.assign(mark(api), lists) as unknown as ProofTest;
}

/** A long test: a proof runs it, the everyday suite skips and counts it. */
export const proofTest = markTests(isProof ? test : test.skip, { isProof: true });

/** A long test that needs a condition, such as a system or a recording. */
export const proofTestIf = (condition: boolean) =>
  markTests(isProof ? (test.runIf(condition) as TestAPI) : test.skip, { isProof: true });

/** A test whose rounds or cases come from `proofRounds` or `proofCases`: both suites run it, a proof in full. */
export const sizedTest = Object.assign(markTests(test, { isSized: true }), {
  skipIf: (condition: boolean) => markTests(test.skipIf(condition) as TestAPI, { isSized: true }),
});
