import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { proofTest } from "../../support/proof.ts";

const MODULES = ["cli/serving/watch-loop.ts", "model/base/loop-stage.ts"].map(
  (path) => new URL(`../../../src/${path}`, import.meta.url).href,
);

/** Runs a program that is watched; returns its exit code or signal, and its stderr. */
async function runWatched(program: string, options: object) {
  const text = `
    import { watchLoop } from ${JSON.stringify(MODULES[0])};
    import { markStage } from ${JSON.stringify(MODULES[1])};
    const leave = watchLoop(${JSON.stringify(options)});
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const [code, signal] = await once(child, "close");
  return { code, signal, said };
}

proofTest(
  "a loop that never comes back is reported with the work that began last, and its process is ended",
  async () => {
    const { signal, said } = await runWatched(
      'markStage("hook\\n prompt"); setTimeout(() => { for (;;); }, 0);',
      { reportMs: 1_000, endMs: 2_000 },
    );
    expect(signal).toBe("SIGKILL");
    expect(said).toContain("the work that began last: hook prompt.");
  },
);

test("a program that is watched ends by itself, without a report", async () => {
  const { code, said } = await runWatched('markStage("x");', {});
  expect([code, said]).toEqual([0, ""]);
});
