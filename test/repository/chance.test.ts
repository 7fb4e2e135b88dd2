import { expect, test } from "vitest";
import { readSources } from "./source-graph.ts";

/**
 * Sources of time and chance that the simulation (test/simulation/machine.ts) does not replace, so that their values would
 * differ between two runs of the same seed.
 */
const UNCONTROLLED =
  /process\.(?:hrtime|uptime)|getRandomValues|webcrypto|"node:timers"|scheduler\.(?:wait|yield)|Atomics\.wait|randomFill|generateKey/;

/** The uptime of the process stands in a metric, and bounds a program that is started for each hook. */
const ALLOWED: ReadonlySet<string> = new Set([
  "src/server/gateway/observe/metrics.ts",
  "src/cli/hook-relay.ts",
]);

test("time and chance come only from sources that the simulation replaces", () => {
  const found = readSources("src").filter(({ path, text }) => UNCONTROLLED.test(text) && !ALLOWED.has(path));
  expect(found.map(({ path, text }) => `${path}: ${UNCONTROLLED.exec(text)?.[0]}`)).toEqual([]);
});
