import { defineConfig } from "vitest/config";

/** The same proofs as the suite, for hours instead of minutes: LONGHAUL_SOAK scales the number of rounds. */
export default defineConfig({
  test: {
    include: ["test/soak/**/*.test.ts"],
    testTimeout: 6 * 60 * 60 * 1000,
    maxWorkers: 1,
  },
});
