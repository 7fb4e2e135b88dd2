import { Worker } from "node:worker_threads";
import { getStageMemory } from "../../model/base/loop-stage.ts";

/** Time between two beats of the loop, and between two looks of the watchdog. */
const BEAT_MS = 500;
/** Time without a beat after which the watchdog reports. */
const REPORT_MS = 5_000;
/** Time without a beat after which nothing will come any more: a migration or a backup takes turns with the loop. */
const END_MS = 120_000;

interface LoopWatchOptions {
  readonly reportMs?: number;
  readonly endMs?: number;
}

/**
 * Watches the event loop from a thread of its own: reports on stderr when the loop stands still, with the work that
 * began last, and ends the process if the loop does not come back, so that its service starts it again. The thread
 * counts its own looks instead of the time: a computer that sleeps stops both. Returns a function that ends the watch.
 */
export function watchLoop({ reportMs = REPORT_MS, endMs = END_MS }: LoopWatchOptions = {}): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const timer = setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  const worker = new Worker(WATCH, {
    eval: true,
    // The options of this process, such as the kind of its own program, are not those of the thread.
    execArgv: [],
    workerData: {
      beats,
      stage: getStageMemory(),
      beatMs: BEAT_MS,
      reportLooks: Math.ceil(reportMs / BEAT_MS),
      endLooks: Math.ceil(endMs / BEAT_MS),
    },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  worker.on("error", () => clearInterval(timer));
  worker.unref();
  return () => {
    clearInterval(timer);
    void worker.terminate();
  };
}

/** Writes with fs, because the streams of a thread go through the loop that stands still. */
const WATCH = `
const { workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { beats, stage, beatMs, reportLooks, endLooks } = workerData;
let last = 0;
let looks = 0;
const say = (line) => {
  try { writeSync(2, line + "\\n"); } catch { /* Nobody reads. */ }
};
setInterval(() => {
  const now = Atomics.load(beats, 0);
  const seconds = Math.round((looks * beatMs) / 1000);
  if (now !== last) {
    if (looks >= reportLooks) say("longhaul: the loop goes on after " + seconds + " s.");
    last = now;
    looks = 0;
    return;
  }
  looks++;
  const name = () => Buffer.from(stage.filter((byte) => byte > 31 && byte !== 127)).toString("utf8") || "nothing yet";
  if (looks === reportLooks)
    say("longhaul: the loop stands still for " + Math.round((looks * beatMs) / 1000) + " s; the work that began last: " + name() + ".");
  if (looks < endLooks) return;
  say("longhaul: the loop stood still for " + Math.round((looks * beatMs) / 1000) + " s and is ended; the work that began last: " + name() + ".");
  process.kill(process.pid, "SIGKILL");
}, beatMs);
`;
