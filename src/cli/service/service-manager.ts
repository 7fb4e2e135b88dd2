import { execFile } from "node:child_process";
import { join } from "node:path";
import { LonghaulError } from "../../index.ts";
import type { CliContext } from "../cli-context.ts";
import { quoteShellWord } from "../quote-shell-word.ts";
import {
  buildLaunchdPlist,
  buildSystemdUnit,
  LAUNCHD_LABEL,
  type ServiceCommand,
  UNIT_NAME,
} from "./service-definition.ts";

/** State of the service as its manager reports it. */
interface ServiceState {
  readonly isRunning: boolean;
  /** The manager's own word, such as "active" or "failed". */
  readonly word: string;
  readonly pid: number | undefined;
}

/** A program call. */
type ManagerCall = readonly [program: string, ...args: string[]];

/** The service manager of a system. */
export interface ServiceManager {
  readonly name: "systemd" | "launchd";
  readonly path: string;
  build(command: ServiceCommand): string;
  /** Calls after the file was written; `isUpdate` if a service runs with an earlier file. */
  listInstallCalls(isUpdate: boolean): readonly ManagerCall[];
  /** Calls before the file is removed, whose failure does not matter. */
  readonly stopCalls: readonly ManagerCall[];
  /** Calls after the file was removed. */
  readonly afterCalls: readonly ManagerCall[];
  readonly logCommand: string;
  /** Sentences for the user. */
  readonly notes: readonly string[];
  readState(run: RunCall): Promise<ServiceState>;
}

/** Result of a call: its exit code and output. */
interface CallResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a call; throws SERVICE_FAILED only if the program is missing. */
type RunCall = (call: ManagerCall) => Promise<CallResult>;

const CALL_MS = 60_000;

/** The service manager of this system; throws SERVICE_FAILED if there is none that longhaul knows. */
export function chooseServiceManager(context: CliContext, store: string): ServiceManager {
  const { platform, home, env } = context;
  if (platform === "linux")
    return createSystemd(join(env.XDG_CONFIG_HOME || join(home, ".config"), "systemd", "user"));
  if (platform === "darwin") return createLaunchd(home, store);
  throw new LonghaulError(
    "SERVICE_FAILED",
    `longhaul cannot install a service on ${platform}: it knows systemd (Linux) and launchd (macOS). Run "longhaul serve" at login with the tools of your system.`,
    { details: { platform } },
  );
}

function createSystemd(folder: string): ServiceManager {
  const call = (...args: string[]): ManagerCall => ["systemctl", "--user", ...args];
  return {
    name: "systemd",
    path: join(folder, UNIT_NAME),
    build: buildSystemdUnit,
    listInstallCalls: (isUpdate) => [
      call("daemon-reload"),
      call("enable", UNIT_NAME),
      call(isUpdate ? "restart" : "start", UNIT_NAME),
    ],
    stopCalls: [call("disable", "--now", UNIT_NAME)],
    afterCalls: [call("daemon-reload")],
    logCommand: `journalctl --user --unit ${UNIT_NAME} --follow`,
    notes: ['It starts when you log in. "loginctl enable-linger" lets it start with the computer.'],
    async readState(run) {
      const { output } = await run(call("show", UNIT_NAME, "--property=ActiveState,MainPID"));
      const word = /^ActiveState=(.*)$/m.exec(output)?.[1] ?? "unknown";
      const pid = Number(/^MainPID=(\d+)$/m.exec(output)?.[1] ?? 0);
      return { isRunning: word === "active", word, pid: pid > 0 ? pid : undefined };
    },
  };
}

function createLaunchd(home: string, store: string): ServiceManager {
  const path = join(home, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const service = `${domain}/${LAUNCHD_LABEL}`;
  return {
    name: "launchd",
    path,
    build: buildLaunchdPlist,
    listInstallCalls: (isUpdate) => [
      ...(isUpdate ? ([["launchctl", "bootout", service]] as const) : []),
      ["launchctl", "bootstrap", domain, path],
    ],
    stopCalls: [["launchctl", "bootout", service]],
    afterCalls: [],
    logCommand: `tail -f ${quoteShellWord(join(store, "gateway.log"))}`,
    notes: ["It starts when you log in."],
    async readState(run) {
      const { code, output } = await run(["launchctl", "print", service]);
      const word = code === 0 ? (/^\s*state = (.*)$/m.exec(output)?.[1] ?? "unknown") : "not loaded";
      const pid = /^\s*pid = (\d+)$/m.exec(output)?.[1];
      return { isRunning: word === "running", word, pid: pid === undefined ? undefined : Number(pid) };
    },
  };
}

/** Creates the runner of calls, in the environment of the command. */
export function createCallRunner({ env, signal }: CliContext): RunCall {
  return ([program, ...args]) =>
    new Promise((resolve, reject) => {
      const options = { env: { ...env, LC_ALL: "C" }, timeout: CALL_MS, signal };
      execFile(program, args, options, (error, stdout, stderr) => {
        if (error?.code === ("ENOENT" as unknown as number))
          reject(
            createServiceError(
              [program, ...args],
              `there is no ${program} on the PATH, so nothing manages services here`,
            ),
          );
        else
          resolve({
            code: typeof error?.code === "number" ? error.code : error ? 1 : 0,
            output: stdout + stderr,
          });
      });
    });
}

/** Runs calls in order; throws SERVICE_FAILED with the output of the first that fails. */
export async function runCalls(run: RunCall, calls: readonly ManagerCall[]): Promise<void> {
  for (const call of calls) {
    const { code, output } = await run(call);
    if (code !== 0) throw createServiceError(call, output.trim().slice(-500) || `exit code ${code}`);
  }
}

/** Shows a call as a shell line. */
export function formatManagerCall(call: ManagerCall): string {
  return call.map(quoteShellWord).join(" ");
}

function createServiceError(call: ManagerCall, why: string): LonghaulError {
  const command = formatManagerCall(call);
  return new LonghaulError(
    "SERVICE_FAILED",
    `"${command}" failed: ${why.replace(/\.$/, "")}. "longhaul serve" runs the gateway without a service.`,
    { details: { command } },
  );
}
