import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isLonghaulError, type Kernel, type KernelOptions, LonghaulError, openKernel } from "../index.ts";
import type { CommonValues } from "./cli-command.ts";
import type { CliContext } from "./cli-context.ts";
import { escapeLine } from "./escape.ts";

/** File name of the database, as docs/internals/log-format.md defines it. */
const DATABASE = "log.db";

/** Returns the folder of the store: --store, else LONGHAUL_HOME, else ~/.longhaul. */
export function getStorePath({ env, cwd, home }: CliContext, { store }: CommonValues): string {
  return resolve(cwd, store ?? (env.LONGHAUL_HOME || join(home, ".longhaul")));
}

export function hasStore(path: string): boolean {
  return existsSync(join(path, DATABASE));
}

/** Opens the store for a command that writes, creating it if there is none. */
export async function openStore(context: CliContext, options: CommonValues): Promise<Kernel> {
  const path = getStorePath(context, options);
  return openKernel({ path, ...(await readSettings(context, options, path)) });
}

/** Settings of the configuration file that every command follows; an invalid file is reported and has no effect. */
async function readSettings(
  context: CliContext,
  options: CommonValues,
  store: string,
): Promise<Pick<KernelOptions, "models" | "monitor">> {
  const { env, cwd, home } = context;
  const names = ["longhaul.json", "longhaul.gateway.json"];
  // Without a file there is nothing to load, and loading the configuration costs time.
  const hasFile =
    env.LONGHAUL_CONFIG ||
    [store, join(home, ".longhaul")].some((folder) => names.some((name) => existsSync(join(folder, name))));
  if (!hasFile) return {};
  const { readKernelOptions } = await import("../gateway/config/index.ts");
  try {
    const { models, monitor } = readKernelOptions({ cwd, home, env, store });
    return { ...(models && { models }), ...(monitor !== undefined && { monitor }) };
  } catch (error) {
    if (!isLonghaulError(error, "CONFIG_INVALID")) throw error;
    if (!options.quiet) context.stderr.write(`longhaul: ${escapeLine(error.message)}\n`);
    return {};
  }
}

/** Opens the store for a command that only reads: a wrong path must not create an empty store. */
export async function openExistingStore(
  context: CliContext,
  options: CommonValues,
  settings: Pick<KernelOptions, "onWarning"> = {},
): Promise<Kernel> {
  const path = requireStore(context, options);
  const configured = await readSettings(context, options, path);
  return openReadable(context, { ...configured, ...settings, path }, options);
}

/** Returns the folder of an existing store; throws STORE_IO if there is none. */
export function requireStore(context: CliContext, options: CommonValues): string {
  const path = getStorePath(context, options);
  if (hasStore(path)) return path;
  throw new LonghaulError(
    "STORE_IO",
    `There is no store at ${path}; "longhaul import" makes one, --store names another.`,
    { details: { path } },
  );
}

/** Falls back to read-only if the store cannot be written; later writes then fail with a clear error. */
async function openReadable(
  context: CliContext,
  settings: KernelOptions,
  { quiet }: CommonValues,
): Promise<Kernel> {
  try {
    return await openKernel(settings);
  } catch (error) {
    if (!isLonghaulError(error, "STORE_READ_ONLY")) throw error;
    const kernel = await openKernel({ ...settings, readOnly: true });
    if (!quiet) context.stderr.write("longhaul: the store is not writable; it is open for reading only.\n");
    return kernel;
  }
}
