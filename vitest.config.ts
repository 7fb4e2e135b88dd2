import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";
import { LongFirst } from "./test/support/long-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/soak/**"],
    setupFiles: ["test/support/seed.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A machine that is busy or slow takes longer than the second that would be waited.
    expect: { poll: { timeout: 20_000 } },
    // Two cores: more workers would only make the crash and process tests wait for each other.
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
  },
});
