import { listenFailure } from "../../gateway/config/listen-failure.ts";
import { type ConfigRequest, loadConfig } from "../../gateway/config/load-config.ts";
import { type Reloaded, watchConfig } from "../../gateway/config/watch-config.ts";
import { openGateway } from "../../gateway/index.ts";
import { openKernel } from "../../index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { escapeLine, safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { paintFor } from "../look.ts";
import { printTo } from "../printer.ts";
import { storePath } from "../store.ts";
import { greetingJson, greetingLines } from "./greeting.ts";
import type { ServeValues } from "./options.ts";
import { tendHeap } from "./tend-heap.ts";

/** Maximum unread characters of the log in memory; further lines are dropped. */
const MOST_WAITING = 1_024 * 1_024;

/** Runs the gateway until stopped; requests in flight may finish. */
export async function serve(context: Context, options: ServeValues & CommonValues): Promise<number> {
  const { env, stdout, stderr, signal } = context;
  const store = storePath(context, options);
  const request = requestOf(context, options, store);
  const loaded = loadConfig(request);
  const warn = (message: string) => {
    if (!options.quiet) stderr.write(`longhaul: ${escapeLine(message)}\n`);
  };
  const say = (line: string) => printTo(stdout, `${line}\n`);
  for (const warning of [...loaded.project.notices, ...loaded.warnings]) warn(warning);

  await using kernel = await openKernel({ path: store, models: loaded.config.models, onWarning: warn });
  const early: Reloaded[] = [];
  let tell = (reloaded: Reloaded): void => {
    early.push(reloaded);
  };
  const onReload = (reloaded: Reloaded) => {
    const { outcome, messages } = reloaded;
    tell(reloaded);
    if (options.json) stdout.write(`${safeJson({ type: "reloaded", outcome, messages })}\n`);
  };
  const live = watchConfig({ request, loaded, onReload });
  const log = (line: string) => {
    // An unread log must not accumulate in memory.
    if (stderr.writableLength < MOST_WAITING) stderr.write(line);
  };
  const logForm = context.isTerminal.stderr && !options.json ? "pretty" : "json";
  const parts = { kernel, config: live.current, log, logForm, env: { ...env } } as const;
  const gateway = await openGateway(parts).catch((error: unknown) => {
    live.close();
    throw listenFailure(error, loaded.config) ?? error;
  });
  tell = gateway.reloaded;
  for (const reloaded of early) tell(reloaded);
  const leaveHeap = tendHeap(() => gateway.status().inFlight);
  const offHangUp = context.onHangUp?.(() => void live.reload());
  try {
    const facts = { url: gateway.url, store, loaded, env };
    if (options.json) await say(safeJson(greetingJson(facts)));
    else
      for (const line of greetingLines(facts, paintFor(context, options), options.quiet === true))
        await say(line);
    await stopped(signal);
    if (options.json) await say(safeJson({ type: "stopping" }));
    else if (!options.quiet)
      await say("Stopping: waiting for requests in progress. Press Ctrl-C again to stop immediately.");
  } finally {
    leaveHeap();
    offHangUp?.();
    live.close();
    await gateway.close();
  }
  if (options.json) await say(safeJson({ type: "stopped" }));
  else if (!options.quiet) await say("Stopped.");
  return EXIT.fine;
}

function requestOf(context: Context, options: ServeValues, store: string): ConfigRequest {
  const { "dry-run": dryRun, config: path, schema: _, "new-token": __, ...flags } = options;
  const { host, port, policy, threshold, recall, redact, log, upstream } = flags;
  const given = { host, port, policy, threshold, recall, redact, log, upstream, dryRun };
  return {
    cwd: context.cwd,
    home: context.home,
    store,
    env: context.env,
    ...(path !== undefined && { path }),
    flags: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
