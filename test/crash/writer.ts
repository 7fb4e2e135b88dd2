// Appends in every possible way, prints each acknowledged commit synchronously, and kills itself at a place of its third
// cycle; without a place, it goes on until it is killed.
import { writeSync } from "node:fs";
import { openKernel } from "../../src/kernel/index.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { type KillMoment, killAt, killMyself } from "../support/kill-place.ts";

const [path = "", round = "", place = "", call = "", moment = ""] = process.argv.slice(2);
const isPostgres = path.startsWith("postgres://");
const PLACED_CYCLE = 3;

/** The way of appending that runs now, and the number of the cycle. */
const now = { way: "", cycle: 0 };
const own = isPostgres ? await openPostgresStore({ url: path }) : await openSqliteStore({ path });
const isHere = () => now.way === place && now.cycle === PLACED_CYCLE;
const store = killAt(own, moment as KillMoment, (at) => isHere() && call === `${at.part}.${at.method}`);
const kernel = await openKernel({ store, embedder: null });
const session = await kernel.session("marathon");
const image = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(20_000, round),
]);

const acknowledge = (seq: number, text: string) => {
  writeSync(1, `${seq} ${text}\n`);
  if (call === "acknowledgment" && isHere()) killMyself();
};
let count = 0;
const say = async (parts: readonly { type: "data"; data: Uint8Array }[] = []) => {
  const text = `${round}:${count++}`;
  const { seq } = await session.append({ role: "user", parts: [{ type: "text", text }, ...parts] });
  acknowledge(seq, text);
};
const draft = session.draft({ role: "assistant", text: `${round}:draft` });

const ways: Readonly<Record<string, () => Promise<void>>> = {
  draft: async () => {
    draft.write(".");
    await draft.flush();
  },
  single: () => say(),
  group: async () => void (await Promise.all([say(), say(), say(), say()])),
  batch: async () => {
    const batch = [0, 1, 2].map(() => `${round}:${count++}`);
    const entries = await session.appendAll(batch.map((text) => ({ role: "assistant", text })));
    for (const [index, entry] of entries.entries()) acknowledge(entry.seq, batch[index] as string);
  },
  image: () => say([{ type: "data", data: image }]),
};

for (now.cycle = 1; place === "" || now.cycle <= PLACED_CYCLE; now.cycle++)
  for (const [way, append] of Object.entries(ways)) {
    now.way = way;
    await append();
  }
writeSync(1, `missed ${place} ${call}\n`);
process.exit(1);
