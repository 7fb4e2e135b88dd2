import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { LonghaulError } from "../model/errors.ts";
import type { CommandOptions } from "./command.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { buildTagVariables, RUNS_VARIABLE } from "./process-tags.ts";
import { getSystemTable } from "./system-table.ts";

/** A started program with its output streams. */
interface TaggedProcess {
  readonly child: ChildProcess;
  readonly streams: { readonly stdout: Readable; readonly stderr: Readable };
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ProcessExit>;
}

/** Exit of a process, by code or by signal. */
interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts a tagged program as the leader of its own session and group; never through a shell. */
export async function spawnTagged(options: CommandOptions, run: string): Promise<TaggedProcess> {
  const env = {
    ...process.env,
    ...options.env,
    ...buildTagVariables(options.tag, run, process.env[RUNS_VARIABLE]),
  };
  let child: ChildProcess;
  try {
    child = spawn(options.command, [...(options.args ?? [])], {
      cwd: options.cwd,
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [chooseStdin(options), "pipe", "pipe"],
    });
  } catch (error) {
    throw createStartError(options, error);
  }
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) {
    const [error] = await once(child, "error");
    throw createStartError(options, error);
  }
  // Node discards the output of a program that exits while nobody listens, as during the look below.
  for (const stream of [stdout, stderr]) stream.on("readable", () => {});
  options.census?.opened("process");
  // Later errors come from signals to a process that is gone.
  child.on("error", () => {});
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (code, signal) => {
      options.census?.closed("process");
      resolve({ code, signal });
    });
  });
  const identity = await (options.table ?? getSystemTable()).look(pid);
  return { child, streams: { stdout, stderr }, identity: identity ?? { pid, born: "" }, exited };
}

function chooseStdin({ input, inheritsInput }: CommandOptions): "ignore" | "inherit" | "pipe" {
  if (input !== undefined) return "pipe";
  return inheritsInput ? "inherit" : "ignore";
}

function createStartError(options: CommandOptions, cause: unknown): LonghaulError {
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  const hasFolder = options.cwd === undefined || existsSync(options.cwd);
  const why = !hasFolder
    ? `its folder ${JSON.stringify(options.cwd)} does not exist`
    : reason === "ENOENT"
      ? "there is no such program on the PATH; install it or give its whole path"
      : `the system says ${reason}`;
  return new LonghaulError(
    "PROGRAM_NOT_STARTED",
    `${JSON.stringify(options.command)} could not be started: ${why}.`,
    { cause, details: { command: options.command, reason } },
  );
}
