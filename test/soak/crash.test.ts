import { expect, test } from "vitest";
import { crashRounds } from "../crash/rounds.ts";
import { testFolder } from "../support/folder.ts";

const rounds = 2_000 * Number(process.env.LONGHAUL_SOAK ?? 1);

test(`every acknowledged append survives SIGKILL at any moment (${rounds} rounds)`, async () => {
  const report = await crashRounds(testFolder(), rounds);
  expect(report.found).toBeGreaterThanOrEqual(report.acknowledged);
});
