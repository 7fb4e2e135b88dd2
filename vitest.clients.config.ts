import { defineConfig } from "vitest/config";
import { REAL_CLIENTS } from "./test/support/apart.ts";
import { ClosingLine } from "./test/support/closing-line.ts";
import { COMPILE_CACHE } from "./test/support/compile-cache.ts";

/** Tests with the programs of real agents, one at a time. */
export default defineConfig({
  test: {
    env: { ...COMPILE_CACHE, LONGHAUL_PROOF: "1" },
    include: REAL_CLIENTS,
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 600_000,
    maxWorkers: 1,
  },
});
