import { expect, test } from "vitest";
import { crashWriter } from "../crash/rounds.ts";
import { testFolder } from "../support/folder.ts";

const rounds = 2_000 * Number(process.env.LONGHAUL_SOAK ?? 1);

test(`every acknowledged append survives SIGKILL at any moment (${rounds} rounds)`, async () => {
  const path = testFolder();
  let found = 0;
  for (let round = 0; round < rounds; round++) {
    // Whatever the writer does by the time the signal arrives.
    const report = await crashWriter(path, round, 1 + ((round * 7) % 40), found);
    expect(report.found - found).toBeGreaterThanOrEqual(report.acknowledged);
    found = report.found;
  }
});
