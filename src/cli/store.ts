import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Kernel, type KernelOptions, LonghaulError, openKernel } from "../index.ts";
import type { CommonValues } from "./command.ts";
import type { Context } from "./context.ts";

/** The database of a store, as docs/log-format.md names it. */
const DATABASE = "log.db";

/** The folder of the store that a command works on. */
export function storePath({ env, cwd, home }: Context, { store }: CommonValues): string {
  return resolve(cwd, store ?? (env.LONGHAUL_HOME || join(home, ".longhaul")));
}

/** Tells whether there is a store. */
export function hasStore(path: string): boolean {
  return existsSync(join(path, DATABASE));
}

/** Opens the store of a command that writes; it is made if there is none. */
export function openStore(context: Context, options: CommonValues): Promise<Kernel> {
  return openKernel({ path: storePath(context, options) });
}

/** Opens the store of a command that only reads: a wrong path must not leave an empty store behind. */
export async function openExistingStore(
  context: Context,
  options: CommonValues,
  settings: Pick<KernelOptions, "onWarning"> = {},
): Promise<Kernel> {
  const path = storePath(context, options);
  if (hasStore(path)) return openKernel({ ...settings, path });
  throw new LonghaulError(
    "STORE_IO",
    `There is no store at ${path}; "longhaul import" makes one, --store names another.`,
    { details: { path } },
  );
}
