import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { LonghaulError } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { type CommandGroup, type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { writeAtomically } from "../connecting/agent-file.ts";
import { listConnections } from "../connecting/connection-record.ts";
import { findGatewayAddress, isGatewayUp } from "../connecting/gateway-address.ts";
import { EXIT } from "../exit-code.ts";
import { findStoreUrl, getStorePath } from "../open-store.ts";
import {
  buildLaunchdPlist,
  buildSystemdUnit,
  LAUNCHD_LABEL,
  SERVICE_MARK,
  type ServiceCommand,
  UNIT_NAME,
} from "../service/service-definition.ts";
import {
  describeStoreVariables,
  getEnvironmentPath,
  listStoreVariables,
  writeStoreVariables,
} from "../store-environment.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { escapeLine, escapeText } from "../terminal/escape.ts";
import { printDone, printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { UsageError } from "../usage-error.ts";

const installCommand = defineCommand({
  name: "service install",
  summary: "start the gateway at login, as a service of systemd or launchd",
  usage: ["service install [--yes] [--dry-run] [--config FILE]"],
  about:
    "Shows the service file and the commands, and installs it when you agree. The service belongs to your user and needs no superuser. Without a service manager, it fails and changes nothing.",
  options: {
    "dry-run": { type: "boolean", help: "show the file and the commands; change nothing" },
    yes: { type: "boolean", short: "y", help: "install without asking" },
    config: {
      type: "string",
      value: "FILE",
      help: "configuration of the gateway (default: that of the store)",
    },
  },
  maxOperands: 0,
  examples: ["longhaul service install", "longhaul service install --dry-run"],
  run: (context, { options }) => installService(context, options),
});

const statusCommand = defineCommand({
  name: "service status",
  summary: "show whether the service runs and the gateway answers",
  usage: ["service status"],
  about: "The exit code is 0 if a gateway answers at the configured address, else 1.",
  options: {},
  maxOperands: 0,
  examples: ["longhaul service status", "longhaul service status --json"],
  run: (context, { options }) => showService(context, options),
});

const uninstallCommand = defineCommand({
  name: "service uninstall",
  summary: "stop the service and remove its file; the store stays",
  usage: ["service uninstall"],
  options: {},
  maxOperands: 0,
  examples: ["longhaul service uninstall"],
  run: (context, { options }) => uninstallService(context, options),
});

/** Commands that run the gateway as a service of the user. */
export const serviceCommands: CommandGroup = {
  name: "service",
  summary: "run the gateway as a service that starts at login",
  commands: {
    install: async () => installCommand,
    status: async () => statusCommand,
    uninstall: async () => uninstallCommand,
  },
  examples: ["longhaul service install", "longhaul service status", "longhaul service uninstall"],
};

const CALL_MS = 60_000;

/** Stops the service and removes its file; the store stays. */
async function uninstallService(context: CliContext, options: CommonValues): Promise<number> {
  const manager = chooseServiceManager(context, getStorePath(context, options));
  const isInstalled = readOwnService(manager) !== undefined;
  const run = createCallRunner(context);
  if (isInstalled) {
    // A manager that is not running cannot stop anything, and the file must still go.
    for (const call of manager.stopCalls) await run(call).catch(() => undefined);
    rmSync(manager.path, { force: true });
    for (const call of manager.afterCalls) await run(call).catch(() => undefined);
  }
  const records = listConnections(getStorePath(context, options)).filter(({ url }) => /^https?:/.test(url));
  const connected = [...new Set(records.map(({ agent }) => agent))];
  const state = isInstalled ? "uninstalled" : "not installed";
  if (options.json) await printJson(context, { manager: manager.name, path: manager.path, state, connected });
  else if (!options.quiet) {
    const words = isInstalled
      ? `Stopped, and removed ${escapeLine(manager.path)}. The store stays.`
      : "No service is installed.";
    const hint =
      connected.length > 0
        ? `\nStill connected: ${connected.join(", ")}. "longhaul disconnect" restores their files.`
        : "";
    await printTo(context.stdout, `${words}${hint}\n`);
  }
  return EXIT.fine;
}

/** Shows the state of the service, and whether a gateway answers; exit code 1 if none does. */
async function showService(context: CliContext, options: CommonValues): Promise<number> {
  const manager = chooseServiceManager(context, getStorePath(context, options));
  const isInstalled = readOwnService(manager) !== undefined;
  const state = isInstalled ? await manager.readState(createCallRunner(context)) : undefined;
  const url = (await findGatewayAddress(context, options).catch(() => undefined))?.url;
  const isAnswering = url !== undefined && (await isGatewayUp(url));
  if (options.json) {
    const { isRunning = false, word = "not installed", pid } = state ?? {};
    const json = {
      manager: manager.name,
      path: manager.path,
      isInstalled,
      isRunning,
      state: word,
      pid,
      url,
      isAnswering,
    };
    await printJson(context, json);
  } else if (!options.quiet) {
    const service = !state
      ? 'not installed; "longhaul service install" installs it'
      : `${escapeLine(state.word)}${state.pid === undefined ? "" : ` (pid ${state.pid})`}, ${escapeLine(manager.path)}`;
    const gateway =
      url === undefined
        ? "its configuration is damaged"
        : `${isAnswering ? "answers" : "does not answer"} at ${url}`;
    const log = state ? [`log      ${manager.logCommand}`] : [];
    await printTo(context.stdout, `${[`service  ${service}`, `gateway  ${gateway}`, ...log].join("\n")}\n`);
  }
  return isAnswering ? EXIT.fine : EXIT.failed;
}

/** Options of `service install`. */
interface InstallValues extends CommonValues {
  readonly config?: string;
  readonly yes?: boolean;
  readonly "dry-run"?: boolean;
}

/** Shows the service, asks, writes its file and starts it. A failure restores the previous state. */
async function installService(context: CliContext, options: InstallValues): Promise<number> {
  const manager = chooseServiceManager(context, getStorePath(context, options));
  const command = buildServiceCommand(context, options);
  const text = manager.build(command);
  const variables = listStoreVariables(context, options);
  const previous = readOwnService(manager);
  const isSame = previous === text;
  const calls = manager.listInstallCalls(previous !== undefined);
  const say = (words: string) => (options.json ? Promise.resolve() : printTo(context.stdout, words));
  if (!options.quiet || !options.yes)
    await say(`${describeInstall(manager, command, text, variables, calls.map(formatManagerCall))}\n`);
  if (options["dry-run"]) return finish(context, options, manager, { text, state: "planned" });
  if (!options.yes) {
    if (!context.isTerminal.stdin || !context.isTerminal.stdout || options.json)
      throw new UsageError(
        "nothing was installed, because there is no terminal to ask on; --yes installs it, --dry-run shows it",
      );
    if (!(await askYesNo(context, "Install this service?"))) {
      await say("Nothing was installed.\n");
      return EXIT.fine;
    }
  }
  const run = createCallRunner(context);
  mkdirSync(dirname(manager.path), { recursive: true });
  // The gateway's own checks refuse a store folder that others can write to.
  mkdirSync(command.store, { recursive: true, mode: 0o700 });
  if (!isSame) writeAtomically(manager.path, text, 0o644);
  const restoreVariables = writeStoreVariables(variables, getEnvironmentPath(command.store));
  try {
    await runCalls(run, calls);
  } catch (error) {
    if (previous === undefined) {
      for (const call of manager.stopCalls) await run(call).catch(() => undefined);
      rmSync(manager.path, { force: true });
    } else writeAtomically(manager.path, previous, 0o644);
    restoreVariables();
    for (const call of manager.afterCalls) await run(call).catch(() => undefined);
    throw error;
  }
  return finish(context, options, manager, { text, state: isSame ? "unchanged" : "installed" });
}

/** The text of the installed file; undefined if there is none. Throws SERVICE_FAILED if longhaul did not write it. */
function readOwnService({ path }: ServiceManager): string | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  if (text.includes(SERVICE_MARK)) return text;
  throw new LonghaulError(
    "SERVICE_FAILED",
    `${path} was not written by longhaul and stays as it is. Rename it, then run the command again.`,
    { details: { command: path } },
  );
}

/** The command line of the service: absolute paths only, because a service has no shell and no variables of yours. */
function buildServiceCommand(context: CliContext, { config, ...options }: InstallValues): ServiceCommand {
  const main = fileURLToPath(resolveModuleFile("cli/main"));
  if (/[\\/]_npx[\\/]/.test(main))
    throw new LonghaulError(
      "SERVICE_FAILED",
      'This copy of longhaul is in the cache of npx, which npm may empty. Run "npm install --global longhaul" first.',
      { details: { command: main } },
    );
  const store = getStorePath(context, options);
  const isDatabase = findStoreUrl(context, { ...options, ...dropUndefined({ config }) }) !== undefined;
  const named = config ?? (context.env.LONGHAUL_CONFIG || undefined);
  return {
    program: process.execPath,
    args: [
      "--max-semi-space-size=8",
      `--env-file-if-exists=${getEnvironmentPath(store)}`,
      main,
      "serve",
      "--keep-histories",
      // The folder of a database's settings is named by a variable, because --store names the store itself.
      ...(isDatabase ? [] : ["--store", store]),
      ...(named === undefined ? [] : ["--config", resolve(context.cwd, named)]),
    ],
    home: context.home,
    store,
  };
}

function describeInstall(
  manager: ServiceManager,
  { store }: ServiceCommand,
  text: string,
  variables: ReturnType<typeof listStoreVariables>,
  calls: readonly string[],
): string {
  return [
    `The gateway runs as a service of ${manager.name}, for your user only, and keeps the conversations of your agents before they delete them. This file is written:`,
    "",
    `${escapeText(manager.path)}`,
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => `    ${escapeText(line)}`),
    "",
    "Then these commands run:",
    ...calls.map((line) => `    ${escapeText(line)}`),
    ...describeStoreVariables(variables, getEnvironmentPath(store)).map(escapeText),
    "",
    `Keys and tokens are not in the file. Put them into ${escapeText(getEnvironmentPath(store))} (NAME=value, one per line; chmod 600) if the gateway needs its own.`,
    ...manager.notes,
    "",
  ].join("\n");
}

async function finish(
  context: CliContext,
  options: InstallValues,
  { name, path, logCommand }: ServiceManager,
  { text, state }: { readonly text: string; readonly state: "planned" | "installed" | "unchanged" },
): Promise<number> {
  const words = {
    planned: "Dry run: nothing was installed.",
    installed: `Installed and started. "longhaul service status" shows its state, "${logCommand}" its log, "longhaul service uninstall" removes it.`,
    unchanged: "The service was installed already; it was started again.",
  };
  await printDone(
    context,
    options,
    () => ({ manager: name, path, state, text }),
    () => [words[state]],
  );
  return EXIT.fine;
}

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
interface ServiceManager {
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

/** The service manager of this system; throws SERVICE_FAILED if there is none that longhaul knows. */
function chooseServiceManager(context: CliContext, store: string): ServiceManager {
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
function createCallRunner({ env, signal }: CliContext): RunCall {
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
async function runCalls(run: RunCall, calls: readonly ManagerCall[]): Promise<void> {
  for (const call of calls) {
    const { code, output } = await run(call);
    if (code !== 0) throw createServiceError(call, output.trim().slice(-500) || `exit code ${code}`);
  }
}

/** Shows a call as a shell line. */
function formatManagerCall(call: ManagerCall): string {
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
