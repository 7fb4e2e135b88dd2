import { checkFields } from "../../model/arguments.ts";
import type { AfterStep } from "../after-end.ts";
import type { SeenProcess } from "./process-table.ts";
import type { ReapOptions } from "./reap.ts";
import { systemTable } from "./system-table.ts";
import { isOfSameTask } from "./tag.ts";
import { reapTagged } from "./tagged.ts";

const GATHER_MS = 25;

/** How a step reaps. */
export interface ReapStepOptions extends ReapOptions {
  /** "orphans": only tasks that a process has left by dying; of others `startCommand` ends the programs by itself. */
  readonly after?: "all" | "orphans";
}

/**
 * A step after the end of every task: ends what still runs of it, as after a crash of its supervisor. Tasks that end at
 * about the same time share one look at the process table.
 */
export function reapStep(options: ReapStepOptions = {}): AfterStep {
  checkFields("options", options, { table: "object?" });
  const table = options.table ?? systemTable();
  let next: Promise<readonly SeenProcess[]> | undefined;
  const look = () => {
    next ??= new Promise((resolve, reject) => {
      setTimeout(async () => {
        next = undefined;
        try {
          resolve(await table.list());
        } catch (error) {
          reject(error);
        }
      }, GATHER_MS);
    });
    return next;
  };
  return {
    name: "processes",
    async run({ task, tag, isOrphan }) {
      if (options.after === "orphans" && !isOrphan && task.resumes === 0) return undefined;
      if (!(await look()).some(({ tasks }) => tasks.some((one) => isOfSameTask(one, tag)))) return undefined;
      const { ended, remaining } = await reapTagged(tag, options);
      return { ended, ...(remaining.length > 0 && { remaining: remaining.map(({ pid }) => pid) }) };
    },
  };
}
