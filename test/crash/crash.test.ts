import { expect } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { crashRounds } from "./rounds.ts";

/** Each round kills at another of the few steps of a commit; the soak repeats this for hours. */
const rounds = proofRounds(50, 4);

sizedTest(
  `every acknowledged append survives SIGKILL at any moment, once and in order (${rounds} rounds)`,
  async () => {
    const report = await crashRounds(testFolder(), rounds);
    expect(report.acknowledged).toBeGreaterThan(10 * rounds);
    expect(report.found).toBeGreaterThanOrEqual(report.acknowledged);
    // Each writer leaves one draft; the kernel that checks the log also adopts the last one.
    expect(report.interrupted).toBeGreaterThan(rounds / 2);
  },
  300_000,
);
