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
    // Busy or slow machines need longer than the default of one second.
    expect: { poll: { timeout: 20_000 } },
    // By default one worker per core of a small machine: more workers make the crash and process tests wait.
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 2),
    // Files share the modules of their worker: loading them again for each file takes longer than most tests.
    isolate: false,
    sequence: { sequencer: LongFirst },
  },
});
