import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { defineConfig } from "vitest/config";
import { APART, REAL_CLIENTS } from "./test/support/apart.ts";
import { ClosingLine } from "./test/support/closing-line.ts";
import "./test/support/surroundings.ts";
import { COMPILE_CACHE } from "./test/support/compile-cache.ts";
import { LongFirst } from "./test/support/long-first.ts";

/** Files with tests that are longer in a proof, or run only there. */
const files = readdirSync("test", { recursive: true })
  .map((path) => join("test", String(path)))
  .filter((path) => path.endsWith(".test.ts") && !path.startsWith(join("test", "soak")))
  .filter((path) => !REAL_CLIENTS.includes(path.replaceAll("\\", "/")))
  .filter((path) => /\b(?:proof|sized)Test|\bbrowserProof/.test(readFileSync(path, "utf8")));

/** Whether a file gets its own process, as in the everyday suite. */
const isApart = (path: string) => APART.some((pattern) => matchesGlob(path, pattern));

/** The long proofs in full; the everyday suite runs a part of them. */
export default defineConfig({
  test: {
    env: { ...COMPILE_CACHE, LONGHAUL_PROOF: "1" },
    globalSetup: ["test/support/build.ts", "test/support/postgres/shared-server.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    // One more than the cores of CI: many proofs wait for programs, leases and pages.
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 3),
    sequence: { sequencer: LongFirst },
    setupFiles: ["test/support/surroundings.ts", "test/support/seed.ts", "test/support/only-proofs.ts"],
    projects: [
      { extends: true, test: { name: "apart", include: files.filter(isApart), isolate: true } },
      {
        extends: true,
        test: { name: "shared", include: files.filter((path) => !isApart(path)), isolate: false },
      },
    ],
  },
});
