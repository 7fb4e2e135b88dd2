// A process whose tasks wait for nothing but their signals; it prints how they end.
import { writeSync } from "node:fs";
import { openKernel } from "../../../src/kernel/index.ts";

const kernel = await openKernel({ path: ":memory:", embedder: null });
const say = (words: unknown) => writeSync(1, `${words}\n`);

async function* waits({ signal }: { readonly signal: AbortSignal }) {
  yield { type: "output" as const, text: "begun" };
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
async function* works() {
  await new Promise((resolve) => setTimeout(resolve, 10));
  yield { type: "output" as const, text: "done" };
  return 42;
}

const late = await kernel.tasks.start(waits, null, { deadlineMs: 300 });
say((await late.wait()).outcome?.reason);
const waiting = await kernel.tasks.start(waits, null);
const timer = setTimeout(() => void waiting.kill("asked"), 300).unref();
say((await waiting.wait()).outcome?.reason);
clearTimeout(timer);

// Nobody waits for this task, so the process has nothing left to do; it continues when that is told.
await kernel.tasks.start(waits, null, { id: "idle" });
process.once("beforeExit", async () => {
  say((await (await kernel.tasks.start(works, null)).wait()).outcome?.result);
  say((await kernel.tasks.status("idle")).outcome?.reason);
  await kernel.close();
});
