import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findGatewayAddress, isGatewayUp } from "../connecting/gateway-address.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { readOwnService } from "./install-service.ts";
import { chooseServiceManager, createCallRunner } from "./service-manager.ts";

/** Shows the state of the service, and whether a gateway answers; exit code 1 if none does. */
export async function showService(context: CliContext, options: CommonValues): Promise<number> {
  const manager = chooseServiceManager(context, getStorePath(context, options));
  const isInstalled = readOwnService(manager) !== undefined;
  const state = isInstalled ? await manager.readState(createCallRunner(context)) : undefined;
  const url = await findGatewayAddress(context, options).then(
    (address) => address.url,
    () => undefined,
  );
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
    await printTo(context.stdout, `${toSafeJson(json)}\n`);
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
