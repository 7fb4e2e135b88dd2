import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { proofTest } from "../support/proof.ts";

const RUN = fileURLToPath(new URL("../../bench/run.ts", import.meta.url));

function runBench(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RUN, ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test("the benches list the measurements of a suite if --only names an unknown one", async () => {
  const { code, stdout, stderr } = await runBench(["gateway", "--only", "throughput,speed"]);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain('There is no measurement "speed" in this suite, which has overhead, throughput,');
});

test("the benches refuse an unknown suite and show the usage", async () => {
  const { code, stderr } = await runBench(["speed"]);
  expect(code).toBe(2);
  expect(stderr).toContain('There is no suite "speed".');
  expect(stderr).toContain("npm run bench -- <suite>");
});

proofTest("the benches select all measurements whose names begin with the given text", async () => {
  const { code, stderr } = await runBench(["living", "--only", "late,lat"]);
  expect(code).toBe(2);
  expect(stderr).toContain('There is no measurement "lat" in this suite, which has late-32k, late-64k,');
});
