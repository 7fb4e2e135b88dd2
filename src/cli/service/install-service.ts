import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveModuleFile } from "../../base/package-files.ts";
import { LonghaulError } from "../../index.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { writeAtomically } from "../connecting/agent-file.ts";
import { escapeText, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findStoreUrl, getStorePath } from "../open-store.ts";
import { printTo } from "../printer.ts";
import {
  describeStoreVariables,
  getEnvironmentPath,
  listStoreVariables,
  writeStoreVariables,
} from "../store-environment.ts";
import { UsageError } from "../usage-error.ts";
import { SERVICE_MARK, type ServiceCommand } from "./service-definition.ts";
import {
  chooseServiceManager,
  createCallRunner,
  formatManagerCall,
  runCalls,
  type ServiceManager,
} from "./service-manager.ts";

/** Options of `service install`. */
interface InstallValues extends CommonValues {
  readonly config?: string;
  readonly yes?: boolean;
  readonly "dry-run"?: boolean;
}

/** Shows the service, asks, writes its file and starts it. A failure restores the previous state. */
export async function installService(context: CliContext, options: InstallValues): Promise<number> {
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
export function readOwnService({ path }: ServiceManager): string | undefined {
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
  const isDatabase =
    findStoreUrl(context, { ...options, ...(config !== undefined && { config }) }) !== undefined;
  const named = config ?? (context.env.LONGHAUL_CONFIG || undefined);
  return {
    program: process.execPath,
    args: [
      "--max-semi-space-size=8",
      `--env-file-if-exists=${getEnvironmentPath(store)}`,
      main,
      "serve",
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
    `The gateway runs as a service of ${manager.name}, for your user only. This file is written:`,
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
  if (options.json) await printTo(context.stdout, `${toSafeJson({ manager: name, path, state, text })}\n`);
  else if (!options.quiet) await printTo(context.stdout, `${words[state]}\n`);
  return EXIT.fine;
}
