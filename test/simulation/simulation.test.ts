import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { isProof, proofCases, proofTest, sizedTest } from "../support/proof.ts";
import { DEFECTS } from "./defects.ts";

const SIMULATE = fileURLToPath(new URL("simulate.ts", import.meta.url));
const PLANT = fileURLToPath(new URL("plant.ts", import.meta.url));
const HOURS = 3;
/** CPU time in which a planted defect must be found. */
const MAX_CPU_SECONDS = 60;

interface Report {
  readonly answered: number;
  readonly digest: string;
  readonly cpuSeconds: number;
  readonly failure: string | null;
}

function run(args: readonly string[], defect?: number): Promise<string> {
  const planted = defect === undefined ? [] : ["--import", PLANT];
  const env = { ...process.env, ...(defect !== undefined && { LONGHAUL_DEFECT: `${defect}` }) };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...planted, SIMULATE, ...args],
      { env, maxBuffer: 1e9 },
      (_, stdout, stderr) => resolve(stdout === "" ? stderr : stdout),
    );
  });
}

async function simulate(seed: number, defect?: number): Promise<Report> {
  const output = await run(["--seed", `${seed}`, "--hours", `${HOURS}`], defect);
  const line = output.trim().split("\n").at(-1) ?? "";
  return line.startsWith("{")
    ? JSON.parse(line)
    : { answered: 0, digest: "", cpuSeconds: 1, failure: output };
}

/**
 * Fixed seeds, a few of them in the everyday suite. Proofs with `LONGHAUL_SEED=random` simulate new ones too, and a failure
 * names the command that repeats it.
 */
const FIXED = Array.from({ length: 10 }, (_, index) => index + 1);
const EVERYDAY = 4;
const hasNew = isProof && process.env.LONGHAUL_SEED === "random";
const NEW = Array.from({ length: hasNew ? 100 : 0 }, () => Math.floor(Math.random() * 1e9));

describe("a simulated world", () => {
  sizedTest.each(proofCases([...FIXED, ...NEW], EVERYDAY))(
    "nothing acknowledged is lost, doubled or mixed in hours of crashes, cuts and sleeps from seed %i",
    async (seed) => {
      const { failure, answered } = await simulate(seed);
      const shrunk = failure && (await run(["--seed", `${seed}`, "--hours", `${HOURS}`, "--shrink"]));
      expect(failure, `Fewest operations that fail:\n${shrunk}`).toBeNull();
      expect(answered).toBeGreaterThan(10);
    },
  );

  sizedTest("the same seed gives the same trace, byte by byte", async () => {
    const [one, other] = await Promise.all([simulate(1), simulate(1)]);
    expect(one?.digest).toBe(other?.digest);
    expect((await simulate(2)).digest).not.toBe(one?.digest);
  });

  proofTest.each(DEFECTS.map(({ name }, index) => [name, index] as const))(
    `a planted defect is found within ${MAX_CPU_SECONDS} s of CPU: %s`,
    async (_, defect) => {
      let cpuSeconds = 0;
      for (let seed = 1; cpuSeconds < MAX_CPU_SECONDS; seed++) {
        const report = await simulate(seed, defect);
        cpuSeconds += report.cpuSeconds;
        expect(report.failure ?? "").not.toContain('has no "');
        if (report.failure !== null) return;
      }
      throw new Error(`The defect was not found in ${cpuSeconds} s of CPU.`);
    },
  );
});
