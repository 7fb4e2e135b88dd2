import type { Socket } from "node:net";
import { resolve } from "node:path";
import {
  askHookServer,
  connectToHooks,
  getSocketPlace,
  readBuildTime,
} from "../adapters/hooks/hook-place.ts";
import { renderStatusLine } from "../adapters/hooks/status-line.ts";

// An import statement would load promises, streams and watchers too, which `node:fs` otherwise loads when they are used.
const {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} = process.getBuiltinModule("node:fs");

/** The agent waits for a hook; after this time, counted from the start of the process, it gets nothing. */
const LIMIT_MS = 300;
const MAX_LOG_BYTES = 1_000_000;
/** A server that a hook started ends after this time without a call. */
const IDLE_MS = 1_800_000;
/** A server that ended at once, such as that of a damaged store, is not started with every hook. */
const RESTART_MS = 10_000;
/** A store is a database, or a folder whose configuration may name one. */
const STORE_FILES = ["log.db", "longhaul.json", "longhaul.gateway.json"];

/** The arguments of `longhaul hook` and `longhaul statusline`, as far as this path needs them. */
interface RelayArguments {
  readonly event: string;
  readonly client: string;
  readonly store: string;
  /** The option by which the server of the same store is started; empty for the default. */
  readonly named: string;
}

/**
 * Passes an agent's JSON from standard input to the process that serves the store, and prints its answer. It loads next
 * to nothing, because an agent starts it with every step. Without such a process it answers from the store, and starts
 * one for the hooks to come. Never fails the agent: on an error it prints nothing, exits with 0 and leaves a line in the
 * log.
 */
export async function relayHook(name: string, args: readonly string[]): Promise<void> {
  const given = readArguments(name, args);
  if (!given) return;
  const limitMs = Number(process.env.LONGHAUL_HOOK_LIMIT_MS) || LIMIT_MS;
  let server: Socket | undefined;
  let isPrinted = false;
  const print = (reply: string) => {
    if (reply !== "") writeSync(1, name === "statusline" ? `${reply}\n` : reply);
    isPrinted = true;
  };
  const leaveLate = () => {
    if (isPrinted) process.exit(0);
    // On a machine so busy, later hooks need a server all the more.
    if (!server) startServer(given);
    leave(given, `no answer within ${limitMs} ms`);
  };
  const timer = setTimeout(leaveLate, Math.max(1, limitMs - process.uptime() * 1_000));
  try {
    const { event, client, store } = given;
    server = await connectToHooks(store, process.env);
    if (!server) startServer(given);
    const input = await readInput();
    if (server) print(await askHookServer(server, { store, client, event, build: readBuildTime() }, input));
    else if (name === "statusline") print(renderStatusLine(JSON.parse(input || "{}")));
    // The end of a session imports the first conversation of a new user.
    else if (event === "session-end" || existsSync(`${store}/log.db`)) await answerCold(given, input, print);
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
  // The settings of a store in a database are in the default folder.
  const isUrl = /^postgres(?:ql)?:/i.test(store);
  const folder = resolveStore(isUrl ? "" : store);
  return { event, client, store: folder, named: store === "" || isUrl ? store : folder };
}

/** The same folder as `getStorePath`, without loading what that needs. */
function resolveStore(named: string): string {
  const { HOME, USERPROFILE, LONGHAUL_HOME } = process.env;
  return resolve(named || LONGHAUL_HOME || `${HOME || USERPROFILE || ""}/.longhaul`);
}

/** All of standard input; a file is read at once, a pipe without blocking, so that the limit holds. */
async function readInput(): Promise<string> {
  const stats = fstatSync(0);
  if (stats.isFile()) return readFileSync(0, "utf8");
  if (!stats.isFIFO() && !stats.isSocket()) return "";
  const chunks: Buffer[] = [];
  const stdin = new (process.getBuiltinModule("node:net").Socket)({ fd: 0, readable: true, writable: false });
  await new Promise<void>((resolve, reject) => {
    stdin.on("data", (chunk: Buffer) => chunks.push(chunk));
    stdin.once("end", resolve);
    stdin.once("error", reject);
  });
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Answers from the store in its own thread, so that the limit holds even while that thread searches. It ends when
 * the thread has noted that the answer was given.
 */
function answerCold(given: RelayArguments, input: string, print: (reply: string) => void): Promise<unknown> {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("../cli/hook-worker.js", import.meta.url), {
      workerData: { given, input },
    });
    worker.once("message", print);
    worker.once("error", reject);
    worker.once("exit", resolve);
  });
}

/** Starts the process that answers later hooks of the store, unless there is no store or a hook has just done so. */
function startServer(given: RelayArguments): void {
  const { store, named } = given;
  const { env, execPath, execArgv, argv } = process;
  const isDatabase = named.includes("://") || env.LONGHAUL_STORE;
  if (!isDatabase && !STORE_FILES.some((one) => existsSync(`${store}/${one}`))) return;
  const { mark } = getSocketPlace(store, env);
  const cwd = mark.slice(0, mark.lastIndexOf("/"));
  try {
    mkdirSync(cwd, { recursive: true, mode: 0o700 });
    const startedMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Math.abs(Date.now() - startedMs) < RESTART_MS) return;
    rmSync(mark, { force: true });
    closeSync(openSync(mark, "wx", 0o600));
  } catch {
    // Another hook starts it at this moment, or a socket has no place here.
    return;
  }
  const { spawn } = process.getBuiltinModule("node:child_process");
  const args = ["serve", "--hooks-only", ...(named === "" ? [] : ["--store", named])];
  spawn(execPath, [...execArgv, argv[1] as string, ...args], {
    detached: true,
    cwd,
    env: { LONGHAUL_HOOKS_IDLE_MS: String(IDLE_MS), ...env, LONGHAUL_HOME: store },
    stdio: ["ignore", "ignore", openLog(given) ?? "ignore"],
    windowsHide: true,
  })
    .on("error", () => undefined)
    .unref();
}

/** The log of hooks, which does not grow without end; undefined if there is no store or it cannot be written. */
function openLog({ store }: RelayArguments): number | undefined {
  try {
    if (!existsSync(store)) return undefined;
    mkdirSync(`${store}/hooks`, { recursive: true, mode: 0o700 });
    const file = openSync(`${store}/hooks/hooks.log`, "a", 0o600);
    if (fstatSync(file).size > MAX_LOG_BYTES) ftruncateSync(file);
    return file;
  } catch {
    // A log that cannot be written must not disturb the agent.
    return undefined;
  }
}

/** Ends the process without a word to the agent; one line in the log says why. */
function leave(given: RelayArguments, reason: string): never {
  const file = openLog(given);
  const line = `${new Date().toISOString()} ${given.client} ${given.event}: ${reason.replace(/\s+/g, " ")}\n`;
  if (file !== undefined) writeSync(file, line);
  process.exit(0);
}
