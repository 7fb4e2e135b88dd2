import type { OptionValues } from "../cli-command.ts";
import { UsageError } from "../usage-error.ts";
import { parseDuration } from "./units.ts";

export const WORKER_OPTIONS = {
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
export function parseWorkerOptions(options: OptionValues<typeof WORKER_OPTIONS>): WorkerSettings {
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
    ...(maxPerQueue !== undefined && { maxPerQueue }),
    ...(maxPerPerson !== undefined && { maxPerPerson }),
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
