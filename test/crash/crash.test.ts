import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { crashRounds } from "./rounds.ts";

test("every acknowledged append survives SIGKILL at any moment, once and in order (100 rounds)", async () => {
  const report = await crashRounds(testFolder(), 100);
  expect(report.acknowledged).toBeGreaterThan(1_000);
  expect(report.found).toBeGreaterThanOrEqual(report.acknowledged);
  // Each writer leaves one draft; the kernel that checks the log also adopts the last one.
  expect(report.interrupted).toBeGreaterThan(50);
}, 300_000);
