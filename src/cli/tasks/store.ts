import { type Kernel, LonghaulError, openKernel } from "../../index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { hasStore, storePath } from "../store.ts";
import { plannedChannels } from "./notify.ts";

/** Opens the store of a command on tasks, making it if need be; notices go out as each task asks for. */
export async function openTasks(
  context: Context,
  options: CommonValues,
  onWarning: (warning: string) => void = () => undefined,
): Promise<Kernel> {
  const planOf = async (id: string) => (await kernel.tasks.sketch(id)).plan;
  const kernel: Kernel = await openKernel({
    path: storePath(context, options),
    tasks: { repository: context.cwd, channels: plannedChannels(planOf), onWarning },
  });
  return kernel;
}

/** The same for a command on tasks that must be there already. */
export async function openExistingTasks(context: Context, options: CommonValues): Promise<Kernel> {
  const path = storePath(context, options);
  if (hasStore(path)) return openTasks(context, options);
  throw new LonghaulError(
    "STORE_IO",
    `There is no store at ${path}; "longhaul task run" makes one, --store names another.`,
    { details: { path } },
  );
}
