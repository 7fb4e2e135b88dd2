import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { commandAgent, type WorkEvent } from "../../kernel/faces/task.ts";
import type { Agent, Kernel, Session } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { defineCommand, type OptionValues } from "../cli-command.ts";
import { type CliContext, waitForAbort } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { nameStore } from "../open-store.ts";
import { formatTaskState } from "../tasks/format-task.ts";
import { openTasks } from "../tasks/open-tasks.ts";
import { parseDuration } from "../tasks/units.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

const WORKER_OPTIONS = {
  queues: {
    type: "string",
    value: "NAMES",
    help: "queues to take tasks from, separated by commas (default: default)",
  },
  concurrency: { type: "string", value: "COUNT", help: "tasks that run here at once (default: 4)" },
  agents: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "JavaScript module that exports agents to run; may be given several times",
  },
  "no-programs": { type: "boolean", help: 'do not run the programs of "longhaul task run --queue"' },
  "per-queue": {
    type: "string",
    value: "COUNT",
    help: "tasks of one queue that run at once, over all workers; give it to all workers",
  },
  "per-person": {
    type: "string",
    value: "COUNT",
    help: "tasks of one person that run at once, over all workers; give it to all workers",
  },
  checkout: {
    type: "string",
    multiple: true,
    value: "THERE=HERE",
    help: "folder on this machine that stands for a folder of the tasks; may be given several times",
  },
  grace: {
    type: "string",
    value: "TIME",
    help: "time for tasks that cannot be handed back to end after a signal to stop (default: 30s)",
  },
} as const;

/** Parsed options of `worker`. */
interface WorkerSettings {
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly maxPerQueue?: number;
  readonly maxPerPerson?: number;
  readonly checkouts: Readonly<Record<string, string>>;
  readonly graceMs: number;
}

/** Parses the options of `worker`; throws UsageError. */
function parseWorkerOptions(options: OptionValues<typeof WORKER_OPTIONS>): WorkerSettings {
  const maxPerQueue = parseCount("per-queue", options["per-queue"]);
  const maxPerPerson = parseCount("per-person", options["per-person"]);
  const queues = (options.queues ?? "default").split(",").map((name) => name.trim());
  for (const name of queues)
    if (!/^[\w.-]{1,60}$/.test(name))
      throw new UsageError(
        `--queues names ${JSON.stringify(name)}; a queue has 1 to 60 letters, digits, points, hyphens and underscores`,
      );
  return {
    queues,
    concurrency: parseCount("concurrency", options.concurrency) ?? 4,
    ...dropUndefined({ maxPerQueue, maxPerPerson }),
    checkouts: Object.fromEntries((options.checkout ?? []).map(parseCheckout)),
    graceMs: parseDuration("grace", options.grace ?? "30s"),
  };
}

function parseCount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1_000) return count;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}; expected a whole number from 1 to 1000`);
}

function parseCheckout(text: string): readonly [string, string] {
  const [there, here, ...more] = text.split("=");
  if (there && here && more.length === 0) return [there, here];
  throw new UsageError(
    `--checkout is ${JSON.stringify(text)}; expected two folders, as in --checkout /ada/app=/srv/app`,
  );
}

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
      if (options.json) return printJson(context, json);
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

/**
 * Loads the agents that modules export: each export may be an agent, a list of agents, or a function of the kernel that
 * returns either. Throws UsageError.
 */
async function loadAgents(
  context: CliContext,
  kernel: Kernel,
  files: readonly string[],
): Promise<readonly Agent<Session>[]> {
  const agents: Agent<Session>[] = [];
  for (const file of files) {
    const exported = await importModule(resolve(context.cwd, file), file);
    const before = agents.length;
    for (const value of new Set(Object.values(exported))) agents.push(...(await readAgents(value, kernel)));
    if (agents.length === before)
      throw new UsageError(`${file} exports no agent; export an object with a name and a function run`);
  }
  return agents;
}

async function importModule(path: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(
      `--agents ${file} could not be loaded: ${error instanceof Error ? error.message : error}`,
    );
  }
}

async function readAgents(value: unknown, kernel: Kernel): Promise<readonly Agent<Session>[]> {
  const made: unknown = typeof value === "function" ? await value(kernel) : value;
  return (Array.isArray(made) ? made : [made]).filter(isAgent);
}

function isAgent(value: unknown): value is Agent<Session> {
  const { name, run } = (value ?? {}) as Partial<Agent<Session>>;
  return typeof name === "string" && typeof run === "function";
}
