// Appends to a session that all writers share and to its own, through lost connections, until it is told to stop;
// prints each acknowledged commit synchronously.
import { writeSync } from "node:fs";
import { openKernel } from "longhaul";

const [store = "", name = ""] = process.argv.slice(2);
const kernel = await openKernel({ store, busyTimeoutMs: 120_000, embedder: null });
const sessions = [await kernel.session("shared"), await kernel.session(`own-${name}`)];
let isStopping = false;
process.stdin.once("data", () => {
  isStopping = true;
});

let count = 0;
const say = async () => {
  const text = `${name}:${count++}`;
  const session = sessions[count % 2] as (typeof sessions)[number];
  // Every third message finishes a draft, which takes another way through the store.
  const message = { role: "assistant", text } as const;
  const { seq } = await (count % 3 === 0
    ? session.draft({ role: "assistant", text }).finish()
    : session.append(message));
  writeSync(1, `${session.id} ${seq} ${text}\n`);
};

while (!isStopping) await Promise.all([say(), say(), say()]);
await kernel.close();
process.exit(0);
