import { lstatSync } from "node:fs";

/** The environment that decides where the local socket is. */
interface HookPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Undefined where the system has no user numbers. */
  readonly uid: number | undefined;
}

/**
 * The folder of the sockets and the socket of one store. It is outside of the store's folder, because a socket cannot be
 * copied with that folder; its name is short, because systems limit the length of a socket's path.
 */
export function getSocketPlace(
  store: string,
  { env, platform, uid }: HookPlace,
): { readonly folder: string | undefined; readonly path: string } {
  const name = hashPath(store);
  if (platform === "win32")
    return { folder: undefined, path: `\\\\.\\pipe\\longhaul-${hashPath(env.USERPROFILE ?? "")}-${name}` };
  const runtime = env.XDG_RUNTIME_DIR;
  const folder = runtime
    ? `${runtime.replace(/\/+$/, "")}/longhaul`
    : `${(env.TMPDIR || "/tmp").replace(/\/+$/, "")}/longhaul-${uid ?? 0}`;
  return { folder, path: `${folder}/${name}.sock` };
}

/** True if a folder belongs to this user, and nobody else may enter it: another user could listen there otherwise. */
export function isPrivateFolder(folder: string, uid: number | undefined): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0;
}

/** A short name for a path; the server compares the whole path, so that two stores with one name are told apart. */
function hashPath(path: string): string {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < path.length; at++) {
    low = Math.imul(low ^ path.charCodeAt(at), 0x01000193) >>> 0;
    high = Math.imul(high + low, 0x85ebca6b) >>> 0;
  }
  return low.toString(16).padStart(8, "0") + high.toString(16).padStart(8, "0");
}
