import { expect } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { crashRounds } from "./rounds.ts";

/** Each round leaves tasks in several states, so 50 rounds meet each state many times. */
const rounds = proofRounds(50, 5);

sizedTest(
  `a supervisor killed at any moment leaves no task running without an owner, and sends one notice for each (${rounds} rounds)`,
  async () => {
    const report = await crashRounds(testFolder(), rounds);
    expect(report.tasks).toBeGreaterThan(3 * rounds);
    expect(report.ended).toBeGreaterThan(rounds / 2);
    expect(report.resumed).toBeGreaterThan(rounds / 5);
    expect(report.lost).toBeGreaterThan(rounds / 5);
  },
  600_000,
);
