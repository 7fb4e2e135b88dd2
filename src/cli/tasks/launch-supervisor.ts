import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CommandInputJson } from "../../kernel/faces/task.ts";
import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  LonghaulError,
  type StartOptions,
  type TaskId,
} from "../../kernel/index.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath, getStoreUrl } from "../open-store.ts";
import type { NotifyTargets } from "./notify-channels.ts";

/** Path of the program itself, compiled or not. */
const MAIN_PATH = fileURLToPath(resolveModuleFile("cli/main"));

/** A supervisor process that runs a task. */
export interface SupervisorProcess {
  readonly session: string;
  readonly pid: number | undefined;
  /** Resolves when the supervisor has exited. */
  readonly exited: Promise<void>;
  /** Disconnects from the supervisor: a task still in the foreground is killed, any other continues. */
  disconnect(): void;
}

/**
 * Starts a process that runs one task and outlives this one. It leads its own session, so neither Ctrl-C nor a closing
 * terminal reaches it. It detects the end of this process, however it ends, by the IPC channel. Resolves when the task
 * is in the log.
 */
export async function launchSupervisor(
  context: CliContext,
  options: CommonValues,
  request: RunRequest,
  onWarning: (text: string) => void,
): Promise<SupervisorProcess> {
  const { cwd, env } = context;
  const url = getStoreUrl(context, options);
  const named = url === undefined ? ["--store", getStorePath(context, options)] : [];
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=8", MAIN_PATH, "task", "supervise", ...named],
    {
      cwd,
      // The URL may hold a password, and other users see the arguments of a program.
      env: url === undefined ? env : { ...env, LONGHAUL_STORE: url },
      detached: true,
      windowsHide: true,
      stdio: [request.inheritsInput ? "inherit" : "ignore", "ignore", "ignore", "ipc"],
    },
  );
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const answer = await requestStart(child, request, onWarning);
  if (answer.type === "refused") throw toRefusalError(answer);
  const leave = () => {
    if (child.connected) child.disconnect();
    child.unref();
  };
  return { session: answer.session, pid: child.pid, exited: gone, disconnect: leave };
}

type FirstAnswer = Exclude<SupervisorAnswer, { type: "warning" }>;

function requestStart(
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

function toRefusalError({
  code,
  message: given,
  details,
}: Extract<SupervisorAnswer, { type: "refused" }>): Error {
  const message = code === "TASK_CONFLICT" ? `${given} Give another --id, or none.` : given;
  const isKnown = (ERROR_CODES as readonly string[]).includes(code);
  if (isKnown) return new LonghaulError(code as ErrorCode, message, { details });
  return Object.assign(new Error(message), { code });
}

/** Request from `task run` to a supervisor process. */
export interface RunRequest {
  readonly input: CommandInputJson & { readonly notify?: NotifyTargets };
  readonly options: Omit<StartOptions, "signal" | "id"> & { readonly id: TaskId };
  readonly maxOutputBytes?: number;
  /** The program inherits the stdin of `task run`. */
  readonly inheritsInput?: boolean;
}

/** Messages from a supervisor: the task has started or was refused, and warnings at any time. */
export type SupervisorAnswer =
  | { readonly type: "warning"; readonly text: string }
  | { readonly type: "started"; readonly task: TaskId; readonly session: string }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly message: string;
      readonly details: ErrorDetails;
    };
