import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createProcessesHiddenError } from "./check-table.ts";
import { type ProcessSnapshot, type ProcessTable, sendSignal } from "./process-table.ts";
import { parseTagVariables, RUNS_VARIABLE, TASK_VARIABLE } from "./process-tags.ts";

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
