import { defineConfig } from "vitest/config";
import { APART } from "./test/support/apart.ts";
import { ClosingLine } from "./test/support/closing-line.ts";
import "./test/support/surroundings.ts";
import { COMPILE_CACHE } from "./test/support/compile-cache.ts";
import { LongFirst } from "./test/support/long-first.ts";

export default defineConfig({
  test: {
    env: { ...COMPILE_CACHE },
    setupFiles: ["test/support/surroundings.ts", "test/support/seed.ts"],
    globalSetup: ["test/support/build.ts", "test/support/postgres/shared-server.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Busy or slow machines need longer than the default of one second.
    expect: { poll: { timeout: 60_000 } },
    // By default one worker per core of a small machine: more workers make the crash and process tests wait.
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 2),
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "apart", include: APART, isolate: true } },
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
