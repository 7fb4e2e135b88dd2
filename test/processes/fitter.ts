// One of several processes that append to one session and fit or compact its window; prints each finished step.
import { openKernel } from "longhaul";
import { SMALL, step } from "../window/session/history.ts";

const [path = "", name = "", steps = "0"] = process.argv.slice(2);
const kernel = await openKernel({ path });
const session = await kernel.session("shared");
const window = session.window({ ...SMALL, oversize: "clip" });
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();

for (let n = 0; n < Number(steps); n++) {
  await session.appendAll(step(Number(name) * 100_000 + n));
  const { tokens, limits } = await window.fit();
  if (tokens > limits.most) throw new Error(`${tokens} tokens sent, ${limits.most} fit`);
  if (n % 5 === 4)
    await session.compact().catch((error) => {
      if (error.code !== "COMPACTION_BUSY") throw error;
    });
  process.stdout.write(`${n}\n`);
}
await kernel.close();
