import type { Socket } from "node:net";

// An import statement loads more of `node:fs` than an agent should wait for.
const { lstatSync, statSync } = process.getBuiltinModule("node:fs");

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the sockets, the socket of one store, and the file that tells when a hook last started its server. It is
 * outside of the store's folder, because a socket cannot be copied with that folder; its name is short, because systems
 * limit the length of a socket's path.
 */
export function getSocketPlace(
  store: string,
  env: Environment,
): { readonly folder: string | undefined; readonly path: string; readonly mark: string } {
  const name = hashPath(store);
  if (process.platform === "win32") {
    const path = `\\\\.\\pipe\\longhaul-${hashPath(env.USERPROFILE ?? "")}-${name}`;
    return { folder: undefined, path, mark: `${store}/hooks/start` };
  }
  const runtime = env.XDG_RUNTIME_DIR;
  const folder = runtime
    ? `${runtime.replace(/\/+$/, "")}/longhaul`
    : `${(env.TMPDIR || "/tmp").replace(/\/+$/, "")}/longhaul-${process.getuid?.() ?? 0}`;
  return { folder, path: `${folder}/${name}.sock`, mark: `${folder}/${name}.start` };
}

/** The moment at which this copy of the program was built or installed: a server gives way to a newer copy. */
export function readBuildTime(): number {
  return statSync(process.argv[1] ?? "", { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

/** True if a folder belongs to this user, and nobody else may enter it: another user could listen there otherwise. */
export function isPrivateFolder(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** A connection to the process that serves a store; undefined if there is none, or its folder is not this user's own. */
export function connectToHooks(store: string, env: Environment): Promise<Socket | undefined> {
  const { folder, path } = getSocketPlace(store, env);
  if (folder !== undefined && !isPrivateFolder(folder)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const socket = process.getBuiltinModule("node:net").connect(path, () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** Sends one request and returns the answer; rejects if the process ends meanwhile. */
export function askHookServer(socket: Socket, head: object, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    socket.once("error", reject);
    socket.end(`${JSON.stringify(head)}\n${input}`);
  });
}

/** A short name for a path; the server compares the whole path, so that two stores with one name stay distinct. */
function hashPath(path: string): string {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < path.length; at++) {
    low = Math.imul(low ^ path.charCodeAt(at), 0x01000193) >>> 0;
    high = Math.imul(high + low, 0x85ebca6b) >>> 0;
  }
  return low.toString(16).padStart(8, "0") + high.toString(16).padStart(8, "0");
}
