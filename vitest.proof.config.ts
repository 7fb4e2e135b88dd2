import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";
import { LongFirst } from "./test/support/long-first.ts";

/** Test files with proofs: those that ask how many rounds to run. */
const proofs = readdirSync("test", { recursive: true })
  .map((path) => join("test", String(path)))
  .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes("proofRounds("));

/** The long proofs in full, of which the suite runs a tenth. */
export default defineConfig({
  test: {
    include: proofs,
    env: { LONGHAUL_PROOF: "1" },
    setupFiles: ["test/support/seed.ts"],
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 2),
    sequence: { sequencer: LongFirst },
  },
});
