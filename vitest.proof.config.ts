import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { defineConfig } from "vitest/config";
import { APART } from "./test/support/apart.ts";
import { ClosingLine } from "./test/support/closing-line.ts";
import { LongFirst } from "./test/support/long-first.ts";

const tests = readdirSync("test", { recursive: true })
  .map((path) => join("test", String(path)))
  .filter((path) => path.endsWith(".test.ts") && !path.startsWith(join("test", "soak")))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

/** Files whose tests ask how many rounds or cases to run. */
const sized = tests.filter(({ text }) => /\bproof(?:Rounds|Cases)\(/.test(text));
/** Files with long tests between everyday ones. */
const mixed = tests.filter((file) => /\bproofTest/.test(file.text) && !sized.includes(file));

/** Projects of some files, as in the everyday suite. */
function projectsOf(name: string, files: typeof tests, ...setup: readonly string[]) {
  const include = files.map(({ path }) => path);
  const isApart = (path: string) => APART.some((pattern) => matchesGlob(path, pattern));
  const setupFiles = ["test/support/seed.ts", ...setup];
  return [true, false].map((isolate) => ({
    extends: true as const,
    test: {
      name: isolate ? `${name}, apart` : name,
      include: include.filter((path) => isApart(path) === isolate),
      isolate,
      setupFiles,
    },
  }));
}

/** The long proofs in full; the everyday suite runs a part of them. */
export default defineConfig({
  test: {
    env: { LONGHAUL_PROOF: "1" },
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: Number(process.env.LONGHAUL_WORKERS ?? 2),
    sequence: { sequencer: LongFirst },
    projects: [...projectsOf("sized", sized), ...projectsOf("mixed", mixed, "test/support/only-proofs.ts")],
  },
});
