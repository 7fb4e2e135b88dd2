import { rmSync } from "node:fs";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { listConnections } from "../connecting/connection-record.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { readOwnService } from "./install-service.ts";
import { chooseServiceManager, createCallRunner } from "./service-manager.ts";

/** Stops the service and removes its file; the store stays. */
export async function uninstallService(context: CliContext, options: CommonValues): Promise<number> {
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
  if (options.json)
    await printTo(
      context.stdout,
      `${toSafeJson({ manager: manager.name, path: manager.path, state, connected })}\n`,
    );
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
