import { expect, test } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { crashRounds } from "./rounds.ts";

test("a supervisor killed at any moment leaves no task running without an owner, and one notice each (100 rounds)", async () => {
  const report = await crashRounds(testFolder(), 100);
  expect(report.tasks).toBeGreaterThan(300);
  expect(report.ended).toBeGreaterThan(50);
  expect(report.resumed).toBeGreaterThan(20);
  expect(report.lost).toBeGreaterThan(20);
}, 600_000);
