import {
  type ConfigRequest,
  loadConfig,
  type ReloadResult,
  toListenError,
  toMonitorOptions,
  watchConfig,
} from "../../gateway/config/index.ts";
import { openGateway } from "../../gateway/index.ts";
import { openKernel } from "../../index.ts";
import { createMcpEndpoint } from "../../mcp/index.ts";
import { choosePaint } from "../choose-paint.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findAgents } from "../connecting/find-agents.ts";
import { toLoopbackUrl } from "../connecting/gateway-address.ts";
import { LocalAgents } from "../connecting/local-agents.ts";
import { findStdioServer } from "../connecting/mcp/stdio-server.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { getStoreOptions, getStorePath, nameStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { getEnvironmentPath, listStoreVariables, writeStoreVariables } from "../store-environment.ts";
import { endWithNpm } from "./end-with-npm.ts";
import { renderGreeting, toGreetingJson } from "./greeting.ts";
import type { ServeValues } from "./serve-options.ts";
import { tendHeap } from "./tend-heap.ts";

/** Maximum unread characters of the log in memory; further lines are dropped. */
const MAX_UNREAD_CHARACTERS = 1_024 * 1_024;
const FREE_PORT =
  "The gateway listens on a free port, which changes with its next start; set `port` before you connect agents.";

/** Runs the gateway until stopped; requests in flight may finish. */
export async function serveGateway(
  context: CliContext,
  options: ServeValues & CommonValues,
): Promise<number> {
  const { env, stdout, stderr, signal } = context;
  const store = getStorePath(context, options);
  const request = buildConfigRequest(context, options, store);
  const loaded = loadConfig(request);
  const warn = (message: string) => {
    if (!options.quiet) stderr.write(`longhaul: ${escapeLine(message)}\n`);
  };
  const say = (line: string) => printTo(stdout, `${line}\n`);
  for (const warning of [...loaded.project.notices, ...loaded.warnings]) warn(warning);

  await using kernel = await openKernel({
    ...getStoreOptions(context, options),
    models: loaded.config.models,
    monitor: toMonitorOptions(loaded.config.monitor, store),
    onWarning: warn,
  });
  const early: ReloadResult[] = [];
  let tell = (reloaded: ReloadResult): void => {
    early.push(reloaded);
  };
  const onReload = (reloaded: ReloadResult) => {
    const { outcome, messages } = reloaded;
    tell(reloaded);
    if (options.json) stdout.write(`${toSafeJson({ type: "reloaded", outcome, messages })}\n`);
  };
  const live = watchConfig({ request, loaded, onReload });
  const log = (line: string) => {
    // An unread log must not accumulate in memory.
    if (stderr.writableLength < MAX_UNREAD_CHARACTERS) stderr.write(line);
  };
  const logForm = context.isTerminal.stderr && !options.json && options.log !== "json" ? "pretty" : "json";
  const mcp = createMcpEndpoint({ kernel, onError: (error) => warn(`mcp: ${String(error)}`) });
  const agents = (address: () => string) =>
    new LocalAgents({
      place: context,
      store,
      server: findStdioServer(context, options),
      keepStore: () => {
        writeStoreVariables(listStoreVariables(context, options), getEnvironmentPath(store));
      },
      gateway: () => ({
        url: toLoopbackUrl(address()),
        needsToken: live.current().tokens.length > 0 || live.current().team,
      }),
      notes: loaded.config.port === 0 ? [FREE_PORT] : [],
    });
  const parts = { kernel, config: live.current, log, logForm, env: { ...env }, mcp, agents } as const;
  const gateway = await openGateway(parts).catch((error: unknown) => {
    live.close();
    throw toListenError(error, loaded.config) ?? error;
  });
  tell = gateway.reloaded;
  for (const reloaded of early) tell(reloaded);
  const leaveHeap = tendHeap(() => gateway.status().inFlight);
  const leaveNpm = endWithNpm(context);
  const offHangUp = context.onHangUp?.(() => void live.reload());
  try {
    const found = findAgents(context).map(({ title }) => title);
    const { tokens, team } = loaded.config;
    const needsToken = tokens.length > 0 || team || (await kernel.team.isInUse());
    const facts = { url: gateway.url, store: nameStore(context, options), loaded, env, found, needsToken };
    if (options.json) await say(toSafeJson(toGreetingJson(facts)));
    else
      for (const line of renderGreeting(facts, choosePaint(context, options), options.quiet === true))
        await say(line);
    await waitForAbort(signal);
    if (options.json) await say(toSafeJson({ type: "stopping" }));
    else if (!options.quiet)
      await say("Stopping: waiting for requests in progress. Press Ctrl-C again to stop immediately.");
  } finally {
    leaveHeap();
    leaveNpm();
    offHangUp?.();
    live.close();
    await gateway.close();
  }
  if (options.json) await say(toSafeJson({ type: "stopped" }));
  else if (!options.quiet) await say("Stopped.");
  return EXIT.fine;
}

function buildConfigRequest(context: CliContext, options: ServeValues, store: string): ConfigRequest {
  const { "dry-run": dryRun, config: path, schema: _, "new-token": __, ...flags } = options;
  const { host, port, policy, threshold, when, recall, redact, upstream } = flags;
  // "json" is the form of the log, not a level.
  const log = flags.log === "json" ? undefined : flags.log;
  const given = { host, port, policy, threshold, when, recall, redact, log, upstream, dryRun };
  return {
    cwd: context.cwd,
    home: context.home,
    store,
    env: context.env,
    ...(path !== undefined && { path }),
    flags: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
