import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { LonghaulError } from "../../../kernel/index.ts";
import { createConfigInvalidError } from "./config-problem.ts";

/** The error for an address that cannot be listened on, with advice; undefined for failures of another kind. */
export function toListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): LonghaulError | undefined {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { code: undefined };
  const about = (key: string, message: string) => createConfigInvalidError([{ key, message }]);
  if (code === "EADDRINUSE") {
    const pid = findListener(port);
    const owner = pid === undefined ? "" : ` by ${describeProgram(pid)} (process ${pid})`;
    return new LonghaulError(
      "PORT_TAKEN",
      `Port ${port} on ${host} is taken${owner}; end that program, or choose another port: --port 0 takes any that is free.`,
      { cause: error, details: { host, port, ...(pid !== undefined && { pid }) } },
    );
  }
  if (code === "EACCES")
    return about(
      "port",
      `port is ${port}, which this user may not listen on; choose one from 1024 on, or --port 0.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return about(
      "host",
      `host is ${JSON.stringify(host)}, which is no address of this computer; 127.0.0.1 is.`,
    );
  return undefined;
}

/** The process that listens on a port; undefined if the system does not tell, as of other users' processes. */
function findListener(port: number): number | undefined {
  if (process.platform === "win32") return undefined;
  try {
    if (process.platform === "linux") return findSocketOwner(listSockets(port));
    const args = ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fp"];
    return (
      Number(/^p(\d+)$/m.exec(execFileSync("lsof", args, { encoding: "utf8", timeout: 2_000 }))?.[1]) ||
      undefined
    );
  } catch {
    return undefined;
  }
}

const LISTENING = "0A";

/** The sockets that listen on a port, as links in /proc name them. */
function listSockets(port: number): ReadonlySet<string> {
  const tables = ["tcp", "tcp6"].flatMap((name) => readProc(`net/${name}`).split("\n").slice(1));
  const rows = tables.map((line) => line.trim().split(/\s+/));
  const isOnPort = (local = "") => Number.parseInt(local.split(":")[1] ?? "", 16) === port;
  const own = rows.filter(([, local, , state]) => state === LISTENING && isOnPort(local));
  return new Set(own.map((fields) => `socket:[${fields[9]}]`));
}

function findSocketOwner(sockets: ReadonlySet<string>): number | undefined {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const holds = (pid: string) =>
    listFolder(`/proc/${pid}/fd`).some((fd) => sockets.has(readLink(`/proc/${pid}/fd/${fd}`)));
  return sockets.size === 0 ? undefined : Number(pids.find(holds)) || undefined;
}

/** Names the program of a process, without its arguments, which may hold secrets. */
function describeProgram(pid: number): string {
  const words = readProc(`${pid}/cmdline`).split("\0");
  if (words.includes("serve") && words.some((word) => /longhaul|cli\/main\.[jt]s$/.test(word)))
    return "a longhaul gateway";
  return readProc(`${pid}/comm`).trim() || "another program";
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
