import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { getSocketPlace, isPrivateFolder } from "./hook-place.ts";

/** A request on the socket: one line of JSON about the call, then the agent's own JSON until the end. */
export interface HookRequest {
  readonly store: string;
  readonly client: string;
  /** Empty if the agent's JSON names the event. */
  readonly event: string;
  readonly input: string;
}

interface HookSocketOptions {
  /** The folder of the store, which names the socket. */
  readonly store: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text to print; empty for nothing. */
  readonly answer: (request: HookRequest) => Promise<string>;
  readonly onError: (error: unknown) => void;
}

/** Longer requests hold more tool output than a search needs. */
const MAX_BYTES = 16 * 1_024 * 1_024;
const PROBE_MS = 500;

/**
 * Listens on the socket of a store, which only this user may open. Returns a function that closes it; undefined if
 * another process serves the same store already, or if the folder of sockets belongs to somebody else.
 */
export async function listenForHooks(options: HookSocketOptions): Promise<(() => Promise<void>) | undefined> {
  const { store, env, onError } = options;
  const uid = process.getuid?.();
  const { folder, path } = getSocketPlace(store, { env, platform: process.platform, uid });
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivateFolder(folder, uid))
      throw new Error(`${folder} is open to other users; remove it or set its mode to 700`);
    if (await isServed(path)) return undefined;
    rmSync(path, { force: true });
  }
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serveSocket(socket, options);
  });
  server.on("error", onError);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  if (folder !== undefined) chmodSync(path, 0o600);
  // The socket alone does not keep a process alive.
  server.unref();
  return async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
}

function serveSocket(socket: Socket, { store, answer, onError }: HookSocketOptions): void {
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
    answer(request).then(
      (reply) => socket.end(reply),
      (error: unknown) => {
        onError(error);
        socket.end();
      },
    );
  });
}

function parseRequest(text: string): HookRequest | undefined {
  const end = text.indexOf("\n");
  try {
    const head = JSON.parse(text.slice(0, end)) as Partial<HookRequest>;
    const { store, client, event } = head;
    if (typeof store !== "string" || typeof client !== "string" || typeof event !== "string")
      return undefined;
    return { store, client, event, input: text.slice(end + 1) };
  } catch {
    return undefined;
  }
}

/** True if a process answers at the socket; a socket that a dead process left refuses connections. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.setTimeout(PROBE_MS, () => finish(false));
    socket.once("connect", () => finish(true));
    socket.once("error", () => finish(false));
  });
}
