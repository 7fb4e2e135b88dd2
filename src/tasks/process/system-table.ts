import { execFile } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { parseStatLine } from "../../model/base/process-identity.ts";
import { LonghaulError } from "../../model/errors.ts";
import {
  type ProcessIdentity,
  type ProcessSnapshot,
  type ProcessTable,
  sendSignal,
} from "./process-table.ts";
import {
  NO_TAGS,
  type ProcessTags,
  parseTagVariables,
  RUNS_VARIABLE,
  TASK_VARIABLE,
} from "./process-tags.ts";

let table: ProcessTable | undefined;

/** The process table of the current system. */
export function getSystemTable(): ProcessTable {
  table ??= existsSync("/proc/self/stat") ? createProcTable() : createPsTable();
  return table;
}

/** The identity of a live process (this one by default), which other processes can check with `isProcessAlive`. */
export async function identifyProcess(
  pid = process.pid,
  from = getSystemTable(),
): Promise<ProcessIdentity | undefined> {
  return from.look(pid);
}

/** Returns whether an identified process still runs; a reused pid does not count. */
export async function isProcessAlive(identity: ProcessIdentity, from = getSystemTable()): Promise<boolean> {
  return (await from.look(identity.pid))?.born === identity.born;
}

const runFile = promisify(execFile);
const COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=,command=";
const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * The process table of systems without /proc (macOS, BSD), read from `ps`. `ps` shows only the environment of the
 * user's own, unprotected programs; birth times are exact to the second.
 */
export function createPsTable(
  platform: NodeJS.Platform = process.platform,
  program: string = "ps",
): ProcessTable {
  const ask = async (args: readonly string[]) => {
    const options = { maxBuffer: MAX_BYTES, timeout: TIMEOUT_MS, env: { ...process.env, LC_ALL: "C" } };
    const { stdout } = await runFile(program, [...args, "-o", COLUMNS], options);
    return stdout.split("\n").flatMap((line) => parsePsLine(line) ?? []);
  };
  // ps exits with 1 if there is no such process.
  const look = async (pid: number) => {
    const [seen] = await ask(["-p", String(pid)]).catch(() => []);
    return seen && seen.state !== "zombie" ? { pid: seen.pid, born: seen.born } : undefined;
  };
  return {
    async list() {
      try {
        return await ask([platform === "darwin" ? "-axwwE" : "axwwe"]);
      } catch (error) {
        // An empty list would mean that nothing is left to end.
        throw createProcessesHiddenError(error);
      }
    },
    look,
    async signal(target, signal) {
      return (await look(target.pid))?.born === target.born && sendSignal(target.pid, signal);
    },
  };
}

/** Parses one line of `ps`: numbers, state, birth time as five words, then command and environment. */
export function parsePsLine(line: string): ProcessSnapshot | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/.exec(line);
  if (!match) return undefined;
  const [, pid, parent, group, state = "", born = "", rest = ""] = match;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    born: born.replace(/\s+/g, " "),
    state: state.startsWith("Z") ? "zombie" : state.startsWith("T") ? "stopped" : "alive",
    ...parseTagVariables(findVariable(rest, TASK_VARIABLE), findVariable(rest, RUNS_VARIABLE)),
  };
}

function findVariable(text: string, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}=(\\S+)`).exec(text)?.[1];
}

/** Shared read buffer; callers copy the bytes they need before the next read. */
const readBuffer = Buffer.allocUnsafe(16 * 1024);
/** Flag of kernel threads, which have no owner and no environment. */
const KERNEL_THREAD = 0x0020_0000;
/**
 * Limits of a chase: processes checked before the newest listed one, processes checked per pass, passes without a hit.
 */
const CHASE_OVERLAP = 6;
const MAX_CHASED_PIDS = 4_096;
const MAX_CHASE_MISSES = 20;
/** An exec is over by then, even on a busy machine; a process that is blank for longer has no environment. */
const MAX_EXEC_MS = 1_000;

/** The process table of Linux, read from /proc. */
export function createProcTable(folder = "/proc", uid = process.getuid?.() ?? 0): ProcessTable {
  const boot = readProcFile(`${folder}/sys/kernel/random/boot_id`)?.toString("latin1").slice(0, 8) ?? "";
  const see = (pid: number) =>
    parseStat(pid, boot, readProcFile(`${folder}/${pid}/stat`)?.toString("latin1"));
  const seeWhole = (pid: number): (ProcessSnapshot & { readonly isBlank: boolean }) | undefined => {
    const environment = readProcFile(`${folder}/${pid}/environ`);
    const [tags, isBlank] = [findTags(environment), environment?.length === 0];
    const stat = see(pid);
    return stat && { ...stat, ...tags, isBlank };
  };
  /** Threads have pids and /proc files too, but are not listed as processes. */
  const isWhole = (pid: number) =>
    readProcFile(`${folder}/${pid}/status`)?.includes(`\nTgid:\t${pid}\n`) === true;
  const newest = () => Number(readProcFile(`${folder}/loadavg`)?.toString("latin1").split(" ")[4]);
  const maxPid = () => Number(readProcFile(`${folder}/sys/kernel/pid_max`)?.toString("latin1"));
  const ownTicks = ticksOf(see(process.pid));
  let newestListed = 0;
  /** Processes without an environment in the last list, and when each was first seen so. */
  let blankSince = new Map<string, number>();
  return {
    list() {
      const seen: ProcessSnapshot[] = [];
      newestListed = newest();
      const blank = new Map<string, number>();
      const now = performance.now();
      for (const name of readdirSync(folder)) {
        const pid = Number(name);
        // The tree of a superuser may include processes of other users; other users could not signal them anyway.
        if (!Number.isInteger(pid) || (uid !== 0 && readOwner(`${folder}/${pid}`) !== uid)) continue;
        const whole = seeWhole(pid);
        if (!whole) continue;
        seen.push(whole);
        if (!whole.isBlank || whole.state !== "alive" || ticksOf(whole) < ownTicks) continue;
        const key = `${pid} ${whole.born}`;
        blank.set(key, blankSince.get(key) ?? now);
      }
      blankSince = blank;
      return seen;
    },
    hasUnread: () => [...blankSince.values()].some((since) => performance.now() - since < MAX_EXEC_MS),
    look(pid) {
      const seen = see(pid);
      return seen && seen.state !== "zombie" ? { pid: seen.pid, born: seen.born } : undefined;
    },
    signal(target: ProcessIdentity, signal) {
      return see(target.pid)?.born === target.born && sendSignal(target.pid, signal);
    },
    chase(find, signal) {
      // A list of one process does not show the ancestors of this process.
      const spared = new Set<number>();
      for (let pid = process.pid; pid > 1 && !spared.has(pid); pid = see(pid)?.parent ?? 0) spared.add(pid);
      let count = 0;
      // Processes born while a list was read are missing from it.
      let last = newestListed - CHASE_OVERLAP;
      for (let misses = 0; misses < MAX_CHASE_MISSES; misses++) {
        const now = newest();
        if (!(now > 1) || now === last) break;
        const pids = listNewPids(last, now, maxPid());
        last = now;
        for (const pid of pids) {
          const seen = spared.has(pid) ? undefined : seeWhole(pid);
          if (!seen) continue;
          // A process in the middle of exec has an empty environment; check it again.
          if (seen.isBlank && seen.state === "alive") last = pid - 1;
          if (find([seen]).length === 0 || !isWhole(pid)) continue;
          count++;
          if (!signal) return count;
          if (sendSignal(pid, signal)) misses = 0;
        }
      }
      return count;
    },
  };
}

/** The pids that were given out after `last`, up to `now`, newest first; they begin again after the largest one. */
function* listNewPids(last: number, now: number, maxPid: number): Generator<number> {
  const hasWrapped = now < last;
  let count = 0;
  for (let pid = now; pid > (hasWrapped ? 1 : last) && count < MAX_CHASED_PIDS; pid--, count++) yield pid;
  if (!hasWrapped) return;
  for (let pid = maxPid - 1; pid > last && count < MAX_CHASED_PIDS; pid--, count++) yield pid;
}

/** When a process began, in ticks since the system started; 0 if unknown. */
function ticksOf(seen: ProcessIdentity | undefined): number {
  return Number(seen?.born.split("-").at(-1) ?? 0);
}

/** Describes a process by its /proc/<pid>/stat; undefined for kernel threads. */
function parseStat(
  pid: number,
  boot: string,
  line: string | undefined,
): Omit<ProcessSnapshot, keyof ProcessTags> | undefined {
  const { state, parent, group, flags, startedAt } = parseStatLine(line ?? "");
  if (!state || startedAt === undefined || Number(flags) & KERNEL_THREAD) return undefined;
  return {
    pid,
    born: `${boot}-${startedAt}`,
    parent: Number(parent),
    group: Number(group),
    state: state === "Z" || state === "X" ? "zombie" : state === "T" || state === "t" ? "stopped" : "alive",
  };
}

function findTags(environment: Buffer | undefined): ProcessTags {
  if (!environment?.includes("LONGHAUL_")) return NO_TAGS;
  const variables = environment.toString("utf8").split("\0");
  const valueIn = (name: string) =>
    variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  return parseTagVariables(valueIn(TASK_VARIABLE), valueIn(RUNS_VARIABLE));
}

function readOwner(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** Reads a file; undefined if the process has vanished or is not readable. */
function readProcFile(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    // One read covers any stat line and nearly every environment; /proc files do not report their size.
    const length = readSync(file, readBuffer, 0, readBuffer.length, null);
    if (length < readBuffer.length) return readBuffer.subarray(0, length);
    return Buffer.concat([readBuffer, readFileSync(file)]);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const checked = new WeakSet<ProcessTable>();

/**
 * Throws PROCESSES_HIDDEN if the table does not show this process: a program started then could leave child processes
 * that nothing finds again.
 */
export async function checkTable(table: ProcessTable): Promise<void> {
  if (checked.has(table)) return;
  if (!(await table.look(process.pid))) throw createProcessesHiddenError();
  checked.add(table);
}

/** The PROCESSES_HIDDEN error, with the reason if `ps` failed. */
function createProcessesHiddenError(cause?: unknown): LonghaulError {
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason =
    code === "ENOENT" ? "there is no ps" : (message?.split("\n")[0] ?? "no /proc and no working ps");
  const remedy =
    process.platform === "win32"
      ? "Run tasks in WSL, or use agents that start no programs."
      : "Install ps (package procps), or mount /proc.";
  return new LonghaulError(
    "PROCESSES_HIDDEN",
    `This system does not list its processes (${reason}), so the child processes of a program could not be ended. ${remedy}`,
    { cause, details: { reason } },
  );
}
