import { existsSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readOutsideFileSync } from "../../../model/base/outside-file.ts";
import { parseCommentedJson } from "../../../model/base/parse-commented-json.ts";
import type { Environment } from "./config-flags.ts";
import { createConfigInvalidError } from "./config-problem.ts";

const FILE_NAMES = ["longhaul.json", "longhaul.gateway.json"];
const PATH_VARIABLE = "LONGHAUL_CONFIG";

/** Places to look for configuration files. */
export interface FilePlaces {
  /** The file named by --config; if set, the user's folder is not searched. */
  readonly path?: string;
  readonly cwd: string;
  /** The folder of the store. */
  readonly store?: string;
  /** The user's home folder. */
  readonly home?: string;
  readonly env: Environment;
}

/** The file named by --config or LONGHAUL_CONFIG. */
function findNamedFile({ path, cwd, env }: FilePlaces): string | undefined {
  const named = path ?? (env[PATH_VARIABLE] || undefined);
  return named === undefined ? undefined : resolve(cwd, named);
}

/**
 * The folder whose files count as the user's own: the store's, unless the store is inside the working folder. A
 * repository or an agent can put files there, so `~/.longhaul` is used instead.
 */
export function findUserFolder({ store, cwd, home }: Omit<FilePlaces, "env">): string | undefined {
  const usual = home === undefined ? undefined : join(home, ".longhaul");
  if (store === undefined) return undefined;
  const [folder, work] = [resolveRealPath(store), resolveRealPath(cwd)];
  if (usual !== undefined && folder === resolveRealPath(usual)) return store;
  // A working folder that contains the home folder is not a project: "/" in a container, or the home folder itself.
  const isProject = home === undefined || !isInside(work, resolveRealPath(home));
  return isProject && isInside(work, folder) ? usual : store;
}

/** The user's configuration files in order of precedence; only the first that exists is read. */
export function listUserFiles(places: FilePlaces): readonly string[] {
  const named = findNamedFile(places);
  if (named !== undefined) return [named];
  const folder = findUserFolder(places);
  return folder === undefined ? [] : FILE_NAMES.map((name) => join(folder, name));
}

/** The file that a change of the user's settings goes to; it may not exist yet. */
export function chooseUserFile(places: FilePlaces): string | undefined {
  return findUserFile(places) ?? listUserFiles(places)[0];
}

/** The user's configuration file; undefined if there is none. */
export function findUserFile(places: FilePlaces): string | undefined {
  const isNamed = findNamedFile(places) !== undefined;
  return listUserFiles(places).find((path) => isNamed || existsSync(path));
}

/** Configuration files in the working folder or in a store inside it. */
export function listProjectFiles(places: FilePlaces): readonly string[] {
  const own = listUserFiles(places).map(resolveRealPath);
  const folder = findUserFolder(places);
  const isForeignStore = places.store !== undefined && folder !== places.store;
  const folders = [places.cwd, ...(isForeignStore ? [places.store] : [])];
  const paths = folders.flatMap((one) => FILE_NAMES.map((name) => resolve(one, name)));
  return [...new Set(paths)].filter((path) => existsSync(path) && !own.includes(resolveRealPath(path)));
}

/** Parses a user's configuration file; CONFIG_INVALID states why it cannot be used. */
export function readUserFile(path: string): unknown {
  try {
    return parseConfig(readOwnedFile(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : error instanceof SyntaxError
          ? `it is no JSON: ${message}`
          : message;
    throw createConfigInvalidError([
      { key: "--config", message: `${path} cannot be read: ${why.replace(/\.$/, "")}.` },
    ]);
  }
}

/** Parses the bytes of a configuration file: JSON with comments and trailing commas. */
export function parseConfig(bytes: Buffer): unknown {
  return parseCommentedJson(bytes.toString("utf8"));
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return (
    way === "" || !(way === ".." || way.startsWith(`..${way.includes("\\") ? "\\" : "/"}`) || isAbsolute(way))
  );
}

/** The path without symbolic links; for a missing path, that of the nearest existing folder plus the rest. */
function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(resolveRealPath(above), relative(above, path));
  }
}

/** A larger file is not a configuration. */
const MAX_FILE_BYTES = 1_024 * 1_024;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Reads a file that only its owner can change; throws if it belongs to another user or is writable by others. */
export function readOwnedFile(path: string): Buffer {
  return readOutsideFileSync(path, { maxBytes: MAX_FILE_BYTES, allowsLink: true }, (stats) => {
    const problem = findOwnerProblem(stats, path) ?? findOwnerProblem(statSync(dirname(path)), dirname(path));
    if (problem !== undefined) throw new Error(problem);
  });
}

/** Reads a regular file of bounded size; never waits for a pipe or device, and never follows a symbolic link. */
export function readForeignFile(path: string): Buffer {
  return readOutsideFileSync(path, { maxBytes: MAX_FILE_BYTES });
}

/** States who, other than this user and the administrator, can change a file or folder. */
function findOwnerProblem({ uid, mode }: Stats, path: string): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  if (uid !== own && uid !== 0)
    return `${path} belongs to another user (uid ${uid}); make a copy of your own`;
  const isShared = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
  return isShared ? `others can write ${path}; "chmod go-w ${path}" takes that away` : undefined;
}
