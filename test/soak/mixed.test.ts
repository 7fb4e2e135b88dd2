import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import type { SoakSample } from "./soak.ts";
import { growthOf, growthTable, type Limits } from "./verdict.ts";

const minutes = Number(process.env.LONGHAUL_SOAK_MINUTES ?? 30 * Number(process.env.LONGHAUL_SOAK ?? 1));

/** Tolerated growth per 10,000 operations in the last half of the run. */
const LIMITS: Limits = {
  heapBytes: 1e6,
  files: 1,
  listeners: 1,
  openSessions: 1,
  openDrafts: 1,
  openTails: 1,
};
/** Each database checkpoints at 4 MB; a backup delays that while it reads. */
const MAX_WAL_BYTES = 32e6;
/** A shorter run only fills caches and warms up compiled code. */
const MIN_OPERATIONS = 10_000;

test(`memory, files and listeners stay flat under ${minutes} minutes of mixed work`, async () => {
  const script = fileURLToPath(new URL("./mixed-work.ts", import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", script, testFolder(), `${minutes}`], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, errors] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, "exit");
  expect(code, await errors).toBe(0);
  const lines = (await out)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const counts = lines.pop();
  const samples = lines as SoakSample[];
  const growth = growthOf(samples, LIMITS);
  console.log(JSON.stringify(counts));
  console.log(growthTable(growth));
  expect(counts.damages).toBe(0);
  expect(Math.max(...samples.map(({ walBytes }) => walBytes))).toBeLessThan(MAX_WAL_BYTES);
  if (counts.operations < MIN_OPERATIONS)
    return console.log(`Fewer than ${MIN_OPERATIONS} operations say nothing about growth.`);
  expect(growth.filter(({ isGrowing }) => isGrowing).map(({ name, slope }) => ({ name, slope }))).toEqual([]);
});
