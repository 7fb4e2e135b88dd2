import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { dropUndefined } from "../../model/base/drop-undefined.ts";

/** A running process. */
export interface AgentProcess {
  readonly pid: number;
  readonly command: string;
  /** Working folder, if the system reports it. */
  readonly cwd?: string;
}

/** Lists running processes with one of the names; empty if the system does not report any. */
export async function listRunningAgents(names: readonly string[]): Promise<readonly AgentProcess[]> {
  if (names.length === 0) return [];
  const all = process.platform === "linux" ? await readProc() : await readPs();
  return all.filter(({ pid, command }) => pid !== process.pid && isAgentCommand(command, names));
}

/** Interpreters, whose first argument is the actual program. */
const INTERPRETER = /^(node|bun|deno|python[\d.]*)$/;

/** Tells whether a command line runs a program with one of the names. */
export function isAgentCommand(command: string, names: readonly string[]): boolean {
  const words = command.split(/[\0\s]+/).filter(Boolean);
  const program = basename(words[0] ?? "").replace(/\.exe$/i, "");
  const script = INTERPRETER.test(program) ? words.slice(1).find((word) => !word.startsWith("-")) : undefined;
  const candidates = [program, ...(script ? [basename(script).replace(/\.[cm]?[jt]s$/, "")] : [])];
  return candidates.some((candidate) => names.includes(candidate));
}

async function readProc(): Promise<readonly AgentProcess[]> {
  const processes: AgentProcess[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (command === "") continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => undefined);
    processes.push(dropUndefined({ pid: Number(name), command, cwd }));
  }
  return processes;
}

async function readPs(): Promise<readonly AgentProcess[]> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-axo", "pid=,command="], { timeout: 5_000 });
    return stdout.split("\n").flatMap((line) => {
      const match = /^\s*(\d+)\s+(.+)$/.exec(line);
      return match ? [{ pid: Number(match[1]), command: match[2] as string }] : [];
    });
  } catch {
    return [];
  }
}
