// Appends messages and recalls in a process with a small heap; prints its peaks as JSON.
import { openKernel } from "longhaul";

const [path = "", messages = "0", recalls = "0"] = process.argv.slice(2);
const BATCH = 500;
const WORDS = [
  "harbor",
  "crane",
  "parser",
  "ticket",
  "deploy",
  "schema",
  "window",
  "staging",
  "token",
  "ledger",
];

let peakHeapBytes = 0;
let peakRssBytes = 0;
let reliefs = 0;
const kernel = await openKernel({ path, monitor: { intervalMs: 1_000 } });
kernel.monitor.on((event) => {
  if (event.type === "relief") reliefs++;
});
const look = () => {
  const { heapUsed, rss } = process.memoryUsage();
  peakHeapBytes = Math.max(peakHeapBytes, heapUsed);
  peakRssBytes = Math.max(peakRssBytes, rss);
};
const text = (n: number) => {
  const words = Array.from({ length: 12 }, (_, at) => WORDS[(n * (at + 3) + at) % WORDS.length]);
  return `Message ${n}: ${words.join(" ")} item${n % 5_000} by worker${n % 97}.`;
};
const session = await kernel.session("marathon");
for (let n = 0; n < Number(messages); n += BATCH) {
  const batch = Array.from({ length: BATCH }, (_, at) => ({
    role: (n + at) % 2 ? ("assistant" as const) : ("user" as const),
    text: text(n + at),
  }));
  await session.appendAll(batch);
  look();
}
const window = session.window({ model: "claude-sonnet-4-5" });
await window.fit();
look();
await kernel.memory.catchUp({ onProgress: look });
let found = 0;
for (let n = 0; n < Number(recalls); n++) {
  const { hits } = await kernel.memory.recall(`what about item${(n * 37) % 5_000} of worker${n % 97}?`, {
    k: 5,
  });
  found += hits.length > 0 ? 1 : 0;
  look();
}
const { seq } = await session.head();
const sample = await kernel.monitor.check();
await kernel.close();
process.stdout.write(
  `${JSON.stringify({ entries: seq, found, reliefs, peakHeapBytes, peakRssBytes, heapLimitBytes: sample.heapLimitBytes, journalBytes: sample.disk.journalBytes, cpuSeconds: process.cpuUsage().user / 1e6 })}\n`,
);
