import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { findProcess, parseStatLine } from "../../base/process-identity.ts";
import type { CliContext } from "../cli-context.ts";

const INTERVAL_MS = 500;
/** Scripts and commands of npm that run until the gateway ends. */
const EVENTS = ["start", "longhaul", "npx"];

/**
 * Ends the gateway with the npm that runs it (`npm start`): npm tells its shell alone about a signal, and nobody about its
 * own death. Returns a function that ends the watch.
 */
export function endWithNpm({ env, platform }: Pick<CliContext, "env" | "platform">): () => void {
  const isOwn = EVENTS.includes(env.npm_lifecycle_event ?? "") && platform !== "win32";
  const npm = isOwn ? findNpm() : undefined;
  if (npm === undefined) return () => undefined;
  const parent = process.ppid;
  const { startedAt } = findProcess(npm) ?? {};
  const timer = setInterval(() => {
    const found = process.ppid === parent ? findProcess(npm) : undefined;
    if (found && found.startedAt === startedAt) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** The title that npm gives its process, or the path of its script. */
const NPM = /^np[mx]\b|\/np[mx](?:-cli\.js)?$/;

/** The npm above this process, directly or behind the shell of a script; undefined if there is none. */
function findNpm(): number | undefined {
  let pid = process.ppid;
  for (let steps = 0; steps < 2 && pid > 1; steps++) {
    const found = readProcess(pid);
    if (!found) return undefined;
    if (found.args.slice(0, 3).some((arg) => NPM.test(arg))) return pid;
    pid = found.parent;
  }
  return undefined;
}

function readProcess(pid: number): { readonly parent: number; readonly args: readonly string[] } | undefined {
  try {
    if (process.platform === "linux") {
      const { parent } = parseStatLine(readFileSync(`/proc/${pid}/stat`, "utf8"));
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return { parent: Number(parent), args };
    }
    const line = execFileSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2_000,
    }).trim();
    const [, parent, command = ""] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    return { parent: Number(parent), args: command.split(" ") };
  } catch {
    return undefined;
  }
}
