import { commandAgent, type WorkEvent } from "../../task-entry.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatQuantity } from "../format-count.ts";
import { nameStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { formatTaskState } from "../tasks/format-task.ts";
import { loadAgents } from "../tasks/load-agents.ts";
import { openTasks } from "../tasks/open-tasks.ts";
import { parseWorkerOptions, WORKER_OPTIONS } from "../tasks/worker-options.ts";
import { UsageError } from "../usage-error.ts";

/** Runs tasks of queues until it is stopped. */
export const workerCommand = defineCommand({
  name: "worker",
  summary: "run the tasks of queues, on as many machines as you like",
  usage: ["worker [--queues NAMES] [--concurrency COUNT] [--agents FILE]… [options]"],
  about: `Takes tasks that wait in queues (started with "longhaul task run --queue", or with the option queue of tasks.start) and runs them here. Several workers share the queues of one store; with PostgreSQL they may be on several machines. A worker that dies or freezes loses its tasks to another one: an agent that can be resumed continues from the log, a program is reported as lost. On SIGTERM or Ctrl-C it takes no more tasks, hands back those that can be resumed, and waits for the others; a second signal ends it at once. Programs run in the folder in which they were started: a worker on another machine needs a checkout of it, at the same path or named by --checkout. Whoever can write to the store can run programs here, unless --no-programs is given.`,
  options: WORKER_OPTIONS,
  maxOperands: 0,
  examples: [
    "longhaul worker",
    "longhaul worker --queues builds,reviews --concurrency 8 --agents ./agents.js",
    "longhaul worker --per-person 2 --per-queue 10 --json",
    "longhaul worker --checkout /ada/app=/srv/app",
  ],
  async run(context, { options }) {
    const { checkouts, graceMs, ...work } = parseWorkerOptions(options);
    if (options["no-programs"] && !options.agents)
      throw new UsageError("--no-programs leaves nothing to run; name a module with --agents");
    const warn = (text: string) => void context.stderr.write(`longhaul: ${escapeLine(text)}\n`);
    // Signals are handled here: tasks are handed back before they would be killed.
    await using kernel = await openTasks(context, options, warn, { checkouts, handlesSignals: false });
    const { tasks } = kernel;
    const agents = await loadAgents(context, kernel, options.agents ?? []);
    if (!options["no-programs"]) tasks.register(commandAgent({ checkouts }));
    for (const agent of agents) tasks.register(agent);
    const names = [...(options["no-programs"] ? [] : ["command"]), ...agents.map(({ name }) => name)];
    const say = (json: object, text: string, isSuccess = true) => {
      if (options.json) return printTo(context.stdout, `${toSafeJson(json)}\n`);
      return options.quiet && isSuccess ? undefined : printTo(context.stdout, `${escapeLine(text)}\n`);
    };
    const onTask = async (event: WorkEvent) => {
      const status = event.type === "taken" ? undefined : await tasks.status(event.task);
      const words = {
        taken: "taken",
        ended: status ? formatTaskState(status) : "ended",
        left: "handed back, or taken by another worker",
      };
      await say({ ...event, ...(status && { state: status.state }) }, `${event.task} ${words[event.type]}`);
    };
    // In order, and all of them before the last line.
    let printed = Promise.resolve();
    const worker = await tasks.work({
      ...work,
      onTask: (event) => {
        printed = printed
          .then(() => onTask(event))
          .catch((error) => warn(`A message was not printed: ${error}`));
      },
    });
    const { queues, concurrency } = work;
    await say(
      {
        type: "ready",
        store: nameStore(context, options),
        queues,
        agents: names,
        concurrency,
        pid: process.pid,
      },
      `Taking tasks of ${queues.join(", ")} from ${nameStore(context, options)}: agents ${names.join(", ")}, ${formatQuantity(concurrency, "task")} at once.`,
    );
    await waitForAbort(context.signal);
    await say({ type: "stopping" }, "Stopping: handing back tasks and waiting for the others.");
    await worker.close({ graceMs });
    await printed;
    await say({ type: "stopped" }, "Stopped.");
    return EXIT.fine;
  },
});

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
