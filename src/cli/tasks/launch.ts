import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { moduleFile } from "../../base/package-files.ts";
import { ERROR_CODES, type ErrorCode, LonghaulError } from "../../index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { storePath } from "../store.ts";
import type { RunRequest, SupervisorAnswer } from "./supervisor-messages.ts";

/** Path of the program itself, compiled or not. */
const MAIN = fileURLToPath(moduleFile("cli/main"));

/** A supervisor process that runs a task. */
export interface Supervising {
  readonly session: string;
  readonly pid: number | undefined;
  /** Resolves when the supervisor has exited. */
  readonly gone: Promise<void>;
  /** Disconnects from the supervisor: a task still in the foreground is killed, any other continues. */
  leave(): void;
}

/**
 * Starts a process that runs one task and outlives this one. It leads its own session, so neither Ctrl-C nor a closing
 * terminal reaches it. It detects the end of this process, however it ends, by the IPC channel. Resolves when the task
 * is in the log.
 */
export async function launchSupervisor(
  context: Context,
  options: CommonValues,
  request: RunRequest,
  onWarning: (text: string) => void,
): Promise<Supervising> {
  const { cwd, env } = context;
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=8", MAIN, "task", "supervise", "--store", storePath(context, options)],
    {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: [request.inheritsInput ? "inherit" : "ignore", "ignore", "ignore", "ipc"],
    },
  );
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const answer = await ask(child, request, onWarning);
  if (answer.type === "refused") throw refusal(answer);
  const leave = () => {
    if (child.connected) child.disconnect();
    child.unref();
  };
  return { session: answer.session, pid: child.pid, gone, leave };
}

type FirstAnswer = Exclude<SupervisorAnswer, { type: "warning" }>;

function ask(
  child: ChildProcess,
  request: RunRequest,
  onWarning: (text: string) => void,
): Promise<FirstAnswer> {
  return new Promise((resolve, reject) => {
    child.on("message", (message) => {
      const answer = message as SupervisorAnswer;
      if (answer.type === "warning") onWarning(answer.text);
      else resolve(answer);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(
        new LonghaulError(
          "PROGRAM_NOT_STARTED",
          `The supervisor process ended with ${signal ?? `exit code ${code}`} before the task started; try again.`,
          { details: { command: "longhaul task supervise", reason: String(signal ?? code) } },
        ),
      ),
    );
    child.send(request, (error) => error && reject(error));
  });
}

function refusal({ code, message: given, details }: Extract<SupervisorAnswer, { type: "refused" }>): Error {
  const message = code === "TASK_CONFLICT" ? `${given} Give another --id, or none.` : given;
  const isKnown = (ERROR_CODES as readonly string[]).includes(code);
  if (isKnown) return new LonghaulError(code as ErrorCode, message, { details });
  return Object.assign(new Error(message), { code });
}
