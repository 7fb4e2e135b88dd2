import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";
import { LongFirst } from "./test/support/long-first.ts";

/**
 * Tests that start processes, take much memory or measure their own process get a process of their own. All other files
 * share the modules of their worker: loading them again for each file takes longer than most tests.
 */
const APART = [
  ...["cli", "crash", "examples", "leak", "processes", "repository", "security", "task"].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  "test/gateway/hostile.test.ts",
  "test/gateway/reply/relay/upstream-faults.test.ts",
  "test/formats/fuzz.test.ts",
  "test/formats/reading/read-bytes.test.ts",
];

export default defineConfig({
  test: {
    setupFiles: ["test/support/seed.ts"],
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Busy or slow machines need longer than the default of one second.
    expect: { poll: { timeout: 20_000 } },
    // By default one worker per core of a small machine: more workers make the crash and process tests wait.
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 2),
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "apart", include: [...APART, "test/*.test.ts"], isolate: true } },
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/*/**/*.test.ts"],
          exclude: [...APART, "test/soak/**"],
          isolate: false,
        },
      },
    ],
  },
});
