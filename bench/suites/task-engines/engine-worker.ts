// A worker of one engine, in its own process that the bench kills and freezes.
import { writeSync } from "node:fs";
import { runSteps, type WorkerLine } from "./engine.ts";
import { findEngine } from "./engines.ts";

const [name, place = "", by = ""] = process.argv.slice(2);
const say = (line: WorkerLine) => writeSync(1, `${JSON.stringify(line)}\n`);
// An engine that loses its database must not take the process down before it can recover.
process.on("unhandledRejection", (error) => writeSync(2, `${error}\n`));

await findEngine(name).work(place, async (job, signal) => {
  say({ type: "begin", job: job.id });
  let isOver = false;
  signal?.addEventListener("abort", () => isOver || say({ type: "aborted", job: job.id }), { once: true });
  await runSteps(job, by);
  isOver = true;
  say({ type: "end", job: job.id });
  return { by };
});
say({ type: "ready" });
setInterval(() => undefined, 2 ** 30);
