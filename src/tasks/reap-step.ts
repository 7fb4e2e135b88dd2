import { checkFields } from "../model/argument-checks.ts";
import type { AfterStep } from "./after-end.ts";
import type { ProcessSnapshot } from "./process/process-table.ts";
import { isOfSameTask } from "./process/process-tags.ts";
import type { ReapOptions } from "./process/reap-tree.ts";
import { getSystemTable } from "./process/system-table.ts";
import { reapTagged } from "./process/tagged.ts";

const GATHER_MS = 25;

/** Options of `reapStep`. */
interface ReapStepOptions extends ReapOptions {
  /** "orphans" reaps only tasks whose process died; `startCommand` ends the programs of other tasks itself. */
  readonly after?: "all" | "orphans";
}

/**
 * An after-step that ends remaining processes of a task, for example after its supervisor crashed. Tasks that end at
 * about the same time share one process list.
 */
export function reapStep(options: ReapStepOptions = {}): AfterStep {
  checkFields("options", options, { table: "object?" });
  const table = options.table ?? getSystemTable();
  let next: Promise<readonly ProcessSnapshot[]> | undefined;
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
