// Appends in every possible way until it is killed, and synchronously prints each acknowledged commit.
import { writeSync } from "node:fs";
import { openKernel } from "longhaul";

const [path = "", round = ""] = process.argv.slice(2);
const store = path.startsWith("postgres://") ? { store: path } : { path };
const kernel = await openKernel({ ...store, limits: { draftIntervalMs: 1 } });
const session = await kernel.session("marathon");
const acknowledge = (seq: number, text: string) => writeSync(1, `${seq} ${text}\n`);
const image = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(20_000, round),
]);

const draft = session.draft({ role: "assistant", text: `${round}:draft` });
let count = 0;
const say = async (parts: readonly { type: "data"; data: Uint8Array }[] = []) => {
  const text = `${round}:${count++}`;
  const { seq } = await session.append({ role: "user", parts: [{ type: "text", text }, ...parts] });
  acknowledge(seq, text);
};

for (;;) {
  draft.write(".");
  await say();
  await Promise.all([say(), say(), say(), say()]);
  const batch = [0, 1, 2].map(() => `${round}:${count++}`);
  const entries = await session.appendAll(batch.map((text) => ({ role: "assistant", text })));
  for (const [index, entry] of entries.entries()) acknowledge(entry.seq, batch[index] as string);
  if (count % 5 === 0) await say([{ type: "data", data: image }]);
}
