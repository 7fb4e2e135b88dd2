import {
  appendFileSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { connect, Socket } from "node:net";
import { getSocketPlace, isPrivateFolder } from "../adapters/hooks/hook-place.ts";

/** The agent waits for a hook; after this time, counted from the start of the process, it gets nothing. */
const LIMIT_MS = 300;
const MAX_LOG_BYTES = 1_000_000;

/** The arguments of `longhaul hook` and `longhaul statusline`, as far as this path needs them. */
interface RelayArguments {
  readonly event: string;
  readonly client: string;
  readonly store: string;
}

/**
 * Passes an agent's JSON from standard input to the process that serves the store, and prints its answer. It loads next
 * to nothing, because an agent starts it with every step. Without such a process, `openCold` answers from the store.
 * Never fails the agent: whatever happens, it prints nothing, exits with 0 and leaves a line in the log.
 */
export async function relayHook(name: string, args: readonly string[]): Promise<void> {
  const given = readArguments(name, args);
  if (!given) return;
  const limitMs = Number(process.env.LONGHAUL_HOOK_LIMIT_MS) || LIMIT_MS;
  const timer = setTimeout(
    () => leave(given, `no answer within ${limitMs} ms`),
    Math.max(1, limitMs - performance.now()),
  );
  try {
    const input = await readInput();
    const reply = (await askServer(given, input)) ?? (await answerCold(given, input));
    if (reply !== "") writeSync(1, name === "statusline" ? `${reply}\n` : reply);
  } catch (error) {
    leave(given, error instanceof Error ? error.message : String(error));
  }
  clearTimeout(timer);
  // Nothing that a library left running may delay the agent.
  process.exit(0);
}

/** Undefined if the arguments are for a person, such as --help, which the whole program answers. */
export function readArguments(name: string, args: readonly string[]): RelayArguments | undefined {
  let [event, client, store] = [name === "statusline" ? "statusline" : "", "claude-code", ""];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--client") client = args[++at] ?? "";
    else if (arg === "--store") store = args[++at] ?? "";
    else if (arg.startsWith("-") || event !== "") return undefined;
    else event = arg;
  }
  if (event === "") return undefined;
  return { event, client, store: resolveStore(store) };
}

/** The same folder as `getStorePath`, without loading what that needs. */
function resolveStore(named: string): string {
  const { env } = process;
  const home = env.HOME || env.USERPROFILE || "";
  const path = named || env.LONGHAUL_HOME || `${home}/.longhaul`;
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path) && !/(?:^|[\\/])\.{1,2}(?:[\\/]|$)|[\\/]{2}|.[\\/]$/.test(path)
    ? path
    : process.getBuiltinModule("node:path").resolve(path);
}

/** All of standard input; a file is read at once, a pipe without blocking, so that the limit holds. */
async function readInput(): Promise<string> {
  const stats = fstatSync(0);
  if (stats.isFile()) return readFileSync(0, "utf8");
  if (!stats.isFIFO() && !stats.isSocket()) return "";
  const chunks: Buffer[] = [];
  const stdin = new Socket({ fd: 0, readable: true, writable: false });
  await new Promise<void>((resolve, reject) => {
    stdin.on("data", (chunk: Buffer) => chunks.push(chunk));
    stdin.once("end", resolve);
    stdin.once("error", reject);
  });
  return Buffer.concat(chunks).toString("utf8");
}

/** The answer of the process that serves the store; undefined if there is none. */
function askServer({ event, client, store }: RelayArguments, input: string): Promise<string | undefined> {
  const uid = process.getuid?.();
  const { folder, path } = getSocketPlace(store, { env: process.env, platform: process.platform, uid });
  if (folder !== undefined && !isPrivateFolder(folder, uid)) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(path);
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
      socket.end(`${JSON.stringify({ store, client, event })}\n${input}`);
    });
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    socket.once("error", (error) => (isConnected ? reject(error) : resolve(undefined)));
  });
}

/** Answers from the store in a thread of its own, so that the limit holds even while that thread searches. */
function answerCold(given: RelayArguments, input: string): Promise<string> {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("../cli/hook-worker.js", import.meta.url), {
      workerData: { given, input },
    });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

/** Ends the process without a word to the agent; one line in the log says why. */
function leave({ event, client, store }: RelayArguments, reason: string): never {
  try {
    const folder = `${store}/hooks`;
    const path = `${folder}/hooks.log`;
    if (statSync(store, { throwIfNoEntry: false })) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) truncateSync(path, 0);
      const line = `${new Date().toISOString()} ${client} ${event}: ${reason.replace(/\s+/g, " ")}\n`;
      appendFileSync(path, line, { mode: 0o600 });
    }
  } catch {
    // A log that cannot be written is no reason to disturb the agent.
  }
  process.exit(0);
}
