import type { TaskOptions } from "../../kernel/faces/task.ts";
import { type Kernel, LonghaulError, openKernel } from "../../kernel/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStoreOptions, getStorePath, isStoreThere } from "../open-store.ts";
import { createPlannedChannels } from "./notify-channels.ts";

/**
 * Opens the store for a task command, creating it if there is none; notices go to the channels that each task names.
 */
export async function openTasks(
  context: CliContext,
  options: CommonValues,
  onWarning: (warning: string) => void = () => undefined,
  settings: Pick<TaskOptions, "checkouts" | "handlesSignals"> = {},
): Promise<Kernel> {
  const planOf = async (id: string) => (await kernel.tasks.sketch(id)).plan;
  const kernel: Kernel = await openKernel({
    ...getStoreOptions(context, options),
    tasks: { repository: context.cwd, channels: createPlannedChannels(planOf), onWarning, ...settings },
  });
  return kernel;
}

/** Opens the store for a command on existing tasks; throws STORE_IO if there is none. */
export async function openExistingTasks(context: CliContext, options: CommonValues): Promise<Kernel> {
  if (isStoreThere(context, options)) return openTasks(context, options);
  const path = getStorePath(context, options);
  throw new LonghaulError(
    "STORE_IO",
    `There is no store at ${path}; "longhaul task run" makes one, --store names another.`,
    { details: { path } },
  );
}
