import { execFileSync, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { createHookEndpoint } from "../../adapters/hooks/index.ts";
import { createMcpEndpoint } from "../../adapters/mcp/index.ts";
import { openKernel } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { readVersion, resolveModuleFile } from "../../model/base/package-files.ts";
import { findProcess, parseStatLine } from "../../model/base/process-identity.ts";
import {
  type ConfigRequest,
  type Environment,
  findMissingUpstreams,
  isAnthropicReached,
  type LoadedConfig,
  loadConfig,
  type ReloadResult,
  toListenError,
  toMonitorOptions,
  toOpenableUrl,
  watchConfig,
} from "../../server/gateway/config/index.ts";
import { buildAgentLines, openGateway } from "../../server/gateway/index.ts";
import type { CommonValues } from "../cli-command.ts";
import { type CliContext, waitForAbort } from "../cli-context.ts";
import { findAgents } from "../connecting/find-agents.ts";
import { LocalAgents } from "../connecting/local-agents.ts";
import { findStdioServer } from "../connecting/mcp/stdio-server.ts";
import { type ConnectionPlan, planConnection } from "../connecting/plan-connection.ts";
import { EXIT } from "../exit-code.ts";
import { getStoreOptions, getStorePath, nameStore } from "../open-store.ts";
import { getEnvironmentPath, listStoreVariables, writeStoreVariables } from "../store-environment.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import type { Paint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import { padText } from "../terminal/width.ts";
import type { ServeValues } from "./serve-options.ts";

/** Time before an import that ended is started again; it doubles with each end, up to an hour. */
const RESTART_MS = 10_000;
const MAX_RESTART_MS = 3_600_000;

/** An import that ran for this long was well. */
const LONG_RUN_MS = 600_000;

/** Maximum unread characters of the log in memory; further lines are dropped. */
const MAX_UNREAD_CHARACTERS = 1_024 * 1_024;
const FREE_PORT =
  "The gateway listens on a free port, which changes with its next start; set `port` before you connect agents.";

/** Runs the gateway until stopped; requests in flight may finish. `onListening` gets the address for people. */
export async function serveGateway(
  context: CliContext,
  options: ServeValues & CommonValues,
  onListening?: (url: string) => Promise<void>,
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
  const hooks = createHookEndpoint({
    kernel,
    store,
    env,
    onError: (error) => warn(`hooks: ${String(error)}`),
  });
  await hooks.listen().catch((error: unknown) => warn(`hooks: ${String(error)}`));
  const agents = (address: () => string) =>
    new LocalAgents({
      place: context,
      store,
      server: findStdioServer(context, options),
      keepStore: () => {
        writeStoreVariables(listStoreVariables(context, options), getEnvironmentPath(store));
      },
      gateway: () => ({
        url: live.current().publicUrl ?? toOpenableUrl(address()),
        needsToken: live.current().tokens.length > 0 || live.current().team,
        isAnthropic: isAnthropicReached(live.current().upstreams),
      }),
      notes: loaded.config.port === 0 ? [FREE_PORT] : [],
    });
  const parts = {
    ...{ kernel, log, mcp, hooks, agents, folder: store },
    config: live.current,
    logForm,
    env: { ...env },
  } as const;
  const gateway = await openGateway(parts).catch((error: unknown) => {
    live.close();
    void hooks.close();
    throw toListenError(error, loaded.config) ?? error;
  });
  tell = gateway.reloaded;
  for (const reloaded of early) tell(reloaded);
  const leaveHeap = tendHeap(() => gateway.status().inFlight);
  const leaveNpm = endWithNpm(context);
  const offHangUp = context.onHangUp?.(() => void live.reload());
  try {
    const { tokens, team, publicUrl } = loaded.config;
    const needsToken = tokens.length > 0 || team || (await kernel.team.isInUse());
    const url = publicUrl ?? toOpenableUrl(gateway.url);
    const address = { url, needsToken, isAnthropic: isAnthropicReached(loaded.config.upstreams) };
    const plans = findAgents(context).map((connector) =>
      planConnection(connector, { gateway: address, place: context, store, now: Date.now() }),
    );
    const facts = { ...address, store: nameStore(context, options), loaded, env, plans };
    if (options.json) await say(toSafeJson(toGreetingJson(facts)));
    else
      for (const line of renderGreeting(facts, choosePaint(context, options), options.quiet === true))
        await say(line);
    await onListening?.(url);
    if (options["keep-histories"]) keepHistories(context, options, warn);
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
  const {
    "dry-run": dryRun,
    config: path,
    schema: _,
    "new-token": __,
    "keep-histories": ___,
    "hooks-only": ____,
    ...flags
  } = options;
  const { host, port, policy, threshold, when, recall, redact, upstream } = flags;
  // "json" is the form of the log, not a level.
  const log = flags.log === "json" ? undefined : flags.log;
  const given = { host, port, policy, threshold, when, recall, redact, log, upstream, dryRun };
  return {
    cwd: context.cwd,
    home: context.home,
    store,
    env: context.env,
    ...dropUndefined({ path }),
    flags: dropUndefined(given),
  };
}

const INTERVAL_MS = 500;

/** Scripts and commands of npm that run until the gateway ends. */
const EVENTS = ["start", "longhaul", "npx"];

/**
 * Ends the gateway with the npm that runs it (`npm start`): npm tells only its shell about a signal, and nobody about its
 * own death. Returns a function that ends the watch.
 */
function endWithNpm({ env, platform }: Pick<CliContext, "env" | "platform">): () => void {
  const isOwn = EVENTS.includes(env.npm_lifecycle_event ?? "") && platform !== "win32";
  const npm = isOwn ? findNpm() : undefined;
  if (npm === undefined) return () => undefined;
  const parent = process.ppid;
  const { startedAt } = findProcess(npm) ?? {};
  const timer = setInterval(() => {
    const found = process.ppid === parent ? findProcess(npm) : undefined;
    if (found && found.startedAt === startedAt) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** The title that npm gives its process, or the path of its script. */
const NPM = /^np[mx]\b|\/np[mx](?:-cli\.js)?$/;

/** The npm above this process, directly or behind the shell of a script; undefined if there is none. */
function findNpm(): number | undefined {
  let pid = process.ppid;
  for (let steps = 0; steps < 2 && pid > 1; steps++) {
    const found = readProcess(pid);
    if (!found) return undefined;
    if (found.args.slice(0, 3).some((arg) => NPM.test(arg))) return pid;
    pid = found.parent;
  }
  return undefined;
}

function readProcess(pid: number): { readonly parent: number; readonly args: readonly string[] } | undefined {
  try {
    if (process.platform === "linux") {
      const { parent } = parseStatLine(readFileSync(`/proc/${pid}/stat`, "utf8"));
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return { parent: Number(parent), args };
    }
    const line = execFileSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2_000,
    }).trim();
    const [, parent, command = ""] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    return { parent: Number(parent), args: command.split(" ") };
  } catch {
    return undefined;
  }
}

/** A gateway that has started listening. */
interface GatewayFacts {
  /** The address that people and agents use. */
  readonly url: string;
  readonly store: string;
  readonly loaded: LoadedConfig;
  readonly env: Environment;
  /** How the agents on this computer are connected, or would be. */
  readonly plans: readonly ConnectionPlan[];
  /** True if the gateway admits nobody without a token. */
  readonly needsToken: boolean;
  readonly isAnthropic: boolean;
}

/** Agents that the greeting names, so that it stays short. */
const SHOWN_AGENTS = 3;
const LABEL_WIDTH = 12;

/** Builds the greeting in ten lines: address, agents on this computer, upstreams and settings. */
function renderGreeting(listening: GatewayFacts, paint: Paint, isQuiet: boolean): readonly string[] {
  const { url, store, loaded } = listening;
  const first = `longhaul ${readVersion()} listens on ${paint("bold", url)}`;
  if (isQuiet) return [first];
  const files = [loaded.path, loaded.project.path].filter((path) => path !== undefined);
  const settings = files.length === 0 ? "" : `, settings from ${files.join(" and ")}`;
  const row = (label: string, words: string) => `  ${paint("cyan", padText(label, LABEL_WIDTH))} ${words}`;
  return [
    first,
    row("dashboard", `${paint("bold", `${url}/`)}  ("longhaul dashboard" opens it)`),
    row("store", escapeLine(`${store}${settings}`)),
    ...renderAgents(listening).map(([label, words]) => row(label, words)),
    row("models", describeUpstreams(listening)),
    row("window", describeWindows(loaded)),
    row("access", describeAccess(listening)),
    "Press Ctrl-C to stop.",
  ];
}

/** Builds the greeting as JSON. */
function toGreetingJson(listening: GatewayFacts): object {
  const { url, store, loaded, env, needsToken, isAnthropic, plans } = listening;
  const { config, path, project, warnings } = loaded;
  const { policy, dryRun, threshold, control, recall, redact = false } = config;
  const found = new Set(plans.map(({ connector }) => connector.title));
  return {
    type: "listening",
    version: readVersion(),
    url,
    store,
    config: path ?? null,
    project: project.path ?? null,
    settings: { policy, dryRun, threshold, control, recall, redact },
    upstreams: config.upstreams.map(({ name, baseUrl, apis, keyEnv }) => ({
      name,
      baseUrl,
      apis,
      keyEnv,
      hasKey: hasKey(keyEnv, env),
    })),
    missing: findMissingUpstreams(config, env),
    // The agents on this computer come first.
    agents: buildAgentLines({ url, needsToken, isAnthropic })
      .map((one) => ({ ...one, isFound: found.has(one.agent) }))
      .sort((one, other) => Number(other.isFound) - Number(one.isFound)),
    warnings: [...project.notices, ...warnings],
  };
}

/** The agents on this computer: connected, or the settings that "longhaul connect" would write. */
function renderAgents({ plans, url }: GatewayFacts): readonly (readonly [string, string])[] {
  if (plans.length === 0)
    return [["any agent", `ANTHROPIC_BASE_URL=${url} OPENAI_BASE_URL=${url}/v1 <your agent>`]];
  const shown = plans.slice(0, SHOWN_AGENTS);
  const rest = plans.length - shown.length;
  return shown.map((plan, index): readonly [string, string] => {
    const more = index === SHOWN_AGENTS - 1 && rest > 0 ? `; ${rest} more: "longhaul connect --dry-run"` : "";
    return [plan.connector.title, `${escapeLine(describePlan(plan))}${more}`];
  });
}

function describePlan(plan: ConnectionPlan): string {
  const command = `"longhaul connect ${plan.connector.name}"`;
  switch (plan.state) {
    case "unchanged":
      return `connected by ${plan.file.path}`;
    case "change": {
      const names = plan.record.changes.map(({ path }) => path.join("."));
      const what = names.length > 2 ? `${names.length} settings` : names.join(" and ");
      return `not connected; ${command} sets ${what} in ${plan.file.path}`;
    }
    case "manual":
      return `${command} says what to set`;
    default:
      return `cannot be connected: ${plan.reason}`;
  }
}

function describeUpstreams({ loaded: { config }, env }: GatewayFacts): string {
  const names = config.upstreams.map(({ name, baseUrl, keyEnv }) => {
    const key = hasKey(keyEnv, env) ? `, key from ${keyEnv}` : "";
    return `${name} (${new URL(baseUrl).host}${key})`;
  });
  const own = config.upstreams.some(({ keyEnv }) => !hasKey(keyEnv, env)) ? "; the agent's own key" : "";
  return `${escapeLine(names.join(", "))}${own}`;
}

function describeWindows({ config }: LoadedConfig): string {
  const { policy, dryRun, threshold, control, when } = config;
  if (policy === "none") return "requests pass through unchanged";
  const moment = when === "late" ? `from ${threshold}% on` : `when that pays, at the latest at ${threshold}%`;
  // Other policies remove words of the conversation too.
  const removal =
    policy === "longhaul"
      ? `tool output, files and images leave ${moment}; words only when the window is full`
      : `edited ${moment}`;
  const share = control > 0 ? `; control group of ${Math.round(100 * control)}% of new conversations` : "";
  return `policy ${policy}: ${removal}${share}${dryRun ? " (dry run: nothing is changed)" : ""}`;
}

const OFFER_WORDS = {
  "by price": "from the first edit or uncached request of 50,000 tokens on",
  start: "from the start of a conversation",
  edit: "from the first edit on",
  never: "",
  always: "always",
} as const;

function describeAccess({ loaded: { config }, needsToken }: GatewayFacts): string {
  const { recall, redact = false, tokens } = config;
  const who =
    tokens.length > 0
      ? `tokens of ${tokens.map(({ name }) => escapeLine(name)).join(", ")}`
      : needsToken
        ? "people of the store"
        : "this computer, without a token";
  const offered = OFFER_WORDS[recall.offer ?? (config.policy === "none" ? "edit" : "by price")];
  const kinds = [offered && `tools ${offered}`, recall.context && "context"].filter(Boolean).join(" and ");
  return `${who}; recall ${kinds || "off"}; redaction ${redact ? "on" : "off"}`;
}

function hasKey(keyEnv: string | undefined, env: Environment): boolean {
  return keyEnv !== undefined && Boolean(env[keyEnv]);
}

/**
 * Imports new conversations of local agents until the gateway stops. The import runs in its own process: reading
 * a year of histories must not delay a request.
 */
function keepHistories(
  { env, home, signal }: CliContext,
  { store }: CommonValues,
  warn: (message: string) => void,
): void {
  const args = ["import", "--yes", "--watch", "--quiet", ...(store === undefined ? [] : ["--store", store])];
  const begin = (delayMs: number) => {
    const begunAt = Date.now();
    const child = fork(fileURLToPath(resolveModuleFile("cli/main")), args, {
      cwd: home,
      env: { ...env },
      execArgv: ["--max-semi-space-size=4"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // The import watches this channel, so that it ends with the gateway even if that is killed.
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    child.on("error", () => undefined);
    child.on("exit", (code) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) return;
      const next = Date.now() - begunAt > LONG_RUN_MS ? RESTART_MS : Math.min(delayMs * 2, MAX_RESTART_MS);
      warn(`the import of histories ended with code ${code}; it starts again in ${next / 1_000} s`);
      setTimeout(() => begin(next), next).unref();
    });
  };
  begin(RESTART_MS);
}

/**
 * Heap growth before the next V8 collection, in percent of live data. Bodies are allocated outside the heap, and V8 by
 * default runs a full collection when enough of them have come and gone: at every sixth request of a megabyte. Higher
 * growth delays it. With many concurrent requests, memory matters more than time.
 */
const GROWTH = { few: 150, many: 40 };
const MANY = 200;
const LOOK_MS = 250;

/** Adjusts V8's heap growth to the number of requests in flight; returns a function that stops it. */
export function tendHeap(inFlight: () => number): () => void {
  let growth = 0;
  const look = () => {
    const wanted = inFlight() >= MANY ? GROWTH.many : GROWTH.few;
    if (wanted === growth) return;
    growth = wanted;
    setFlagsFromString(`--heap-growing-percent=${growth}`);
  };
  look();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
