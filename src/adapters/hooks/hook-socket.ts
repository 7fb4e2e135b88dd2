import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  askHookServer,
  connectToHooks,
  getSocketPlace,
  isPrivateFolder,
  readBuildTime,
} from "./hook-place.ts";

/** A request on the socket: one line of JSON about the call, then the agent's own JSON until the end. */
export interface HookRequest {
  readonly store: string;
  readonly client: string;
  /** Empty if the agent's JSON names the event. */
  readonly event: string;
  readonly input: string;
  /** When the caller's copy of the program was built. */
  readonly build?: number;
}

/** A server that a hook started: it leaves when nobody calls, for a newer copy, and for a server that a person starts. */
export interface HookGuest {
  readonly idleMs: number;
  readonly leave: () => void;
  /** False once its store was deleted or replaced: it must not answer from a file that has no name any more. */
  readonly isCurrent: () => boolean;
}

interface HookSocketOptions {
  /** The folder of the store, which names the socket. */
  readonly store: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hands the text to print to `deliver`, empty for nothing; false comes back if the caller has left. */
  readonly answer: (request: HookRequest, deliver: (reply: string) => Promise<boolean>) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly guest?: HookGuest | undefined;
}

/** Longer requests hold more tool output than a search needs. */
const MAX_BYTES = 16 * 1_024 * 1_024;
const PROBE_MS = 500;
/** The time that a guest has to leave, and that calls have to end. */
const LEAVE_MS = 3_000;
const RETRY_MS = 50;
/** The event by which a server asks for a guest's place, and the guest's answer. */
const LEAVE = "leave";

/**
 * Listens on the socket of a store, which only this user may open. Returns a function that closes it; undefined if
 * another process serves the same store already, or if the folder of sockets belongs to somebody else.
 */
export async function listenForHooks(options: HookSocketOptions): Promise<(() => Promise<void>) | undefined> {
  const { store, env, guest } = options;
  const { folder, path } = getSocketPlace(store, env);
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivateFolder(folder))
      throw new Error(`${folder} is open to other users; remove it or set its mode to 700`);
  }
  const endMs = performance.now() + LEAVE_MS;
  for (;;) {
    const close = await takeSocket(path, folder !== undefined, options);
    if (close || guest || performance.now() > endMs || (await endHookGuest(store, env)) === false)
      return close;
    await sleep(RETRY_MS);
  }
}

/** Undefined if another process has the socket. A pipe of Windows has one server at most, a file needs a lock for that. */
async function takeSocket(path: string, isFile: boolean, options: HookSocketOptions) {
  const lock = isFile ? takeLock(`${path}.lock`) : undefined;
  if (isFile && !lock) return undefined;
  // A process that was killed leaves its socket.
  if (isFile) rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const idle = options.guest && setTimeout(options.guest.leave, options.guest.idleMs);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    idle?.refresh();
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serveSocket(socket, options);
  });
  const close = async () => {
    clearTimeout(idle);
    const late = setTimeout(() => sockets.forEach((socket) => void socket.destroy()), PROBE_MS);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(late);
    lock?.close();
  };
  try {
    await once(server.listen(path), "listening");
  } catch (error) {
    await close();
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
  server.on("error", options.onError);
  if (isFile) chmodSync(path, 0o600);
  // The socket must not keep the process alive.
  server.unref();
  return close;
}

/** A lock that ends with its process, however that ends: two servers that start at once must not take one socket. */
function takeLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path);
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return lock;
  } catch {
    lock.close();
    return undefined;
  }
}

function serveSocket(socket: Socket, { store, answer, onError, guest }: HookSocketOptions): void {
  const chunks: Buffer[] = [];
  let size = 0;
  socket.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) socket.destroy();
    else chunks.push(chunk);
  });
  socket.once("end", () => {
    const text = Buffer.concat(chunks).toString("utf8");
    const request = parseRequest(text);
    if (!request || request.store !== store) return void socket.end();
    if (request.event === LEAVE || guest?.isCurrent() === false) {
      socket.end(request.event === LEAVE && guest ? LEAVE : "");
      return guest?.leave();
    }
    const deliver = (reply: string) =>
      new Promise<boolean>((resolve) =>
        socket.end(reply, (error?: Error | null) => resolve(!error && !socket.errored)),
      );
    answer(request, deliver)
      .catch((error: unknown) => {
        onError(error);
        socket.end();
      })
      .then(() => (request.build ?? 0) > BUILD && guest?.leave());
  });
}

const BUILD = readBuildTime();

function parseRequest(text: string): HookRequest | undefined {
  const end = text.indexOf("\n");
  try {
    const head = JSON.parse(text.slice(0, end)) as Partial<HookRequest>;
    const { store, client, event, build } = head;
    if (typeof store !== "string" || typeof client !== "string" || typeof event !== "string")
      return undefined;
    return { store, client, event, input: text.slice(end + 1), ...(typeof build === "number" && { build }) };
  } catch {
    return undefined;
  }
}

/**
 * Asks the server of a store to leave if a hook started it; true if it leaves, false if it stays, and undefined if none
 * answers, such as one that starts or ends.
 */
export async function endHookGuest(
  store: string,
  env: HookSocketOptions["env"],
): Promise<boolean | undefined> {
  const socket = await connectToHooks(store, env);
  socket?.setTimeout(LEAVE_MS, () => socket.destroy(new Error("it does not answer")));
  const reply = socket && askHookServer(socket, { store, client: "", event: LEAVE }, "");
  return reply?.then(
    (answer) => answer === LEAVE,
    () => undefined,
  );
}
