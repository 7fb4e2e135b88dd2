import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeConfig } from "vitest/config";
import suite from "./vitest.config.ts";

/** Test files with proofs: those that ask how many rounds to run. */
const proofs = readdirSync("test", { recursive: true })
  .map((path) => join("test", String(path)))
  .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes("proofRounds("));

/** The long proofs in full: every round that the suite runs a tenth of. */
export default mergeConfig(suite, {
  test: { include: proofs, env: { LONGHAUL_PROOF: "1" }, testTimeout: 600_000 },
});
