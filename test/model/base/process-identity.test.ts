import { expect, test } from "vitest";
import { findProcess, parseStatLine } from "../../../src/model/base/process-identity.ts";

test("a stat line is read correctly if the name contains spaces and brackets", () => {
  const rest = Array.from({ length: 30 }, (_, n) => `f${n}`);
  const line = `12 (a ) b) (c) S 1 2 ${rest.join(" ")}`;
  expect(parseStatLine(line)).toEqual({ state: "S", parent: "1", group: "2", flags: "f3", startedAt: "f16" });
  expect(parseStatLine("").startedAt).toBeUndefined();
});

test("the current process is found, and an unused pid is not", () => {
  expect(findProcess(process.pid)).toBeDefined();
  expect(findProcess(2 ** 30)).toBeUndefined();
  expect(findProcess(-1)).toBeUndefined();
});
