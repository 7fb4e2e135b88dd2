import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  isLonghaulError,
  type Kernel,
  type KernelOptions,
  LonghaulError,
  openKernel,
} from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { hidePassword, isPostgresUrl } from "../model/base/postgres-url.ts";
import { type FilePlaces, findUserFile, readUserFile } from "../server/gateway/config/config-files.ts";
import type { CommonValues } from "./cli-command.ts";
import type { CliContext } from "./cli-context.ts";
import { escapeLine } from "./terminal/escape.ts";
import { UsageError } from "./usage-error.ts";

/** File name of the database, as docs/internals/log-format.md defines it. */
const DATABASE = "log.db";

/**
 * Returns the folder of the store: --store, else LONGHAUL_HOME, else ~/.longhaul. A store in a database has its settings
 * in that folder.
 */
export function getStorePath({ env, cwd, home }: CliContext, { store }: CommonValues): string {
  const folder = store !== undefined && !isPostgresUrl(store) ? store : undefined;
  return resolve(cwd, folder ?? (env.LONGHAUL_HOME || join(home, ".longhaul")));
}

/** Options that decide which store is used; `config` names the configuration file. */
type StoreValues = CommonValues & { readonly config?: string };

/** Who names the database of a store. */
interface StoreUrl {
  readonly url: string;
  readonly source: "option" | "variable" | "file";
}

/** Returns the URL of a store in a database: --store, else LONGHAUL_STORE, else the file; undefined for a folder. */
export function getStoreUrl(context: CliContext, options: StoreValues): string | undefined {
  return findStoreUrl(context, options)?.url;
}

/** The URL of a store in a database, and who names it; undefined for a folder. */
export function findStoreUrl(context: CliContext, options: StoreValues): StoreUrl | undefined {
  const { env, cwd, home } = context;
  const { store, config: path } = options;
  if (store !== undefined) return isPostgresUrl(store) ? { url: store, source: "option" } : undefined;
  const named = env.LONGHAUL_STORE || undefined;
  if (named !== undefined) {
    if (isPostgresUrl(named)) return { url: named, source: "variable" };
    throw new UsageError(
      "LONGHAUL_STORE is not a URL that begins with postgres://; LONGHAUL_HOME names a folder",
    );
  }
  const folder = getStorePath(context, options);
  const url = readConfiguredStore({ cwd, home, env, store: folder, ...dropUndefined({ path }) });
  return url === undefined ? undefined : { url, source: "file" };
}

/** The setting in the text of a file that cannot be parsed. */
const STORE_SETTING = /"store"\s*:\s*"postgres/i;

/**
 * Returns the URL of the database that the user's file names as the store; undefined if it names none. Reads only that
 * setting. Throws CONFIG_INVALID if the file is damaged and seems to name a database: opening the folder instead would
 * hide the user's conversations.
 */
function readConfiguredStore(places: FilePlaces): string | undefined {
  const path = findUserFile(places);
  if (path === undefined) return undefined;
  try {
    const { store } = (readUserFile(path) ?? {}) as { readonly store?: unknown };
    return typeof store === "string" && isPostgresUrl(store) ? store : undefined;
  } catch (error) {
    if (STORE_SETTING.test(readText(path))) throw error;
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The options by which a kernel opens the store. */
export function getStoreOptions(
  context: CliContext,
  options: StoreValues,
): Pick<KernelOptions, "path" | "store"> & { readonly path: string } {
  const url = getStoreUrl(context, options);
  return { path: getStorePath(context, options), ...dropUndefined({ store: url }) };
}

/** The store in words, without a password. */
export function nameStore(context: CliContext, options: StoreValues): string {
  return hidePassword(getStoreUrl(context, options) ?? getStorePath(context, options));
}

function hasStore(path: string): boolean {
  return existsSync(join(path, DATABASE));
}

/** True if the store is a database, which is created on opening, or a folder with a store. */
export function isStoreThere(context: CliContext, options: CommonValues): boolean {
  return getStoreUrl(context, options) !== undefined || hasStore(getStorePath(context, options));
}

/** Opens the store for a command that writes, creating it if there is none. */
export async function openStore(context: CliContext, options: CommonValues): Promise<Kernel> {
  const store = getStoreOptions(context, options);
  return openKernel({ ...store, ...(await readSettings(context, options, store.path)) });
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
  const { readKernelOptions } = await import("../server/gateway/config/index.ts");
  try {
    const { models, monitor } = readKernelOptions({ cwd, home, env, store });
    return dropUndefined({ models, monitor });
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
  const store = requireStoreOptions(context, options);
  const configured = await readSettings(context, options, store.path);
  return openReadable(context, { ...configured, ...settings, ...store }, options);
}

/** Returns the options of an existing store; throws STORE_IO if there is none. */
export function requireStoreOptions(
  context: CliContext,
  options: CommonValues,
): ReturnType<typeof getStoreOptions> {
  const store = getStoreOptions(context, options);
  return store.store === undefined ? { path: requireStore(context, options) } : store;
}

/** Returns the folder of an existing embedded store; throws STORE_IO if there is none. */
export function requireStore(context: CliContext, options: CommonValues): string {
  if (getStoreUrl(context, options) !== undefined)
    throw new UsageError(
      'this command works on the files of an embedded store; "longhaul migrate --to FOLDER" copies a database into one',
    );
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
