import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readVersion } from "../../base/package-files.ts";
import { findProcess, parseStatLine } from "../../base/process-identity.ts";
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
  watchConfig,
} from "../../gateway/config/index.ts";
import { type AgentLines, buildAgentLines, openGateway } from "../../gateway/index.ts";
import { createHookEndpoint } from "../../hooks/index.ts";
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
import type { Paint } from "../paint.ts";
import { printTo } from "../printer.ts";
import { getEnvironmentPath, listStoreVariables, writeStoreVariables } from "../store-environment.ts";
import { padText } from "../width.ts";
import { keepHistories } from "./keep-histories.ts";
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
        url: toLoopbackUrl(address()),
        needsToken: live.current().tokens.length > 0 || live.current().team,
        isAnthropic: isAnthropicReached(live.current().upstreams),
      }),
      notes: loaded.config.port === 0 ? [FREE_PORT] : [],
    });
  const parts = { kernel, config: live.current, log, logForm, env: { ...env }, mcp, hooks, agents } as const;
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
    const found = findAgents(context).map(({ title }) => title);
    const { tokens, team } = loaded.config;
    const needsToken = tokens.length > 0 || team || (await kernel.team.isInUse());
    const facts = { url: gateway.url, store: nameStore(context, options), loaded, env, found, needsToken };
    if (options.json) await say(toSafeJson(toGreetingJson(facts)));
    else
      for (const line of renderGreeting(facts, choosePaint(context, options), options.quiet === true))
        await say(line);
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
    ...(path !== undefined && { path }),
    flags: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
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
  readonly url: string;
  readonly store: string;
  readonly loaded: LoadedConfig;
  readonly env: Environment;
  /** Titles of the agents on this computer. */
  readonly found: readonly string[];
  /** True if the gateway admits nobody without a token. */
  readonly needsToken: boolean;
}

/** Builds the greeting: address, lines to paste into agents, upstreams and settings. */
function renderGreeting(listening: GatewayFacts, paint: Paint, isQuiet: boolean): readonly string[] {
  const { url, store } = listening;
  const first = `longhaul ${readVersion()} listens on ${paint("bold", url)}`;
  if (isQuiet) return [first];
  return [
    `${first}, store ${escapeLine(store)}`,
    "",
    'Point an agent here ("longhaul connect" writes this for the agents on this computer):',
    ...renderAgents(listening, paint),
    "",
    "Requests go to:",
    ...renderUpstreams(listening, paint),
    "",
    ...renderSettings(listening),
    `Status, recall and import: ${paint("bold", `${url}/`)}   Press Ctrl-C to stop.`,
  ];
}

/** Builds the greeting as JSON. */
function toGreetingJson(listening: GatewayFacts): object {
  const { url, store, loaded, env } = listening;
  const { config, path, project, warnings } = loaded;
  const { policy, dryRun, threshold, control, recall, redact } = config;
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
    agents: orderAgents(listening),
    warnings: [...project.notices, ...warnings],
  };
}

/** The agents on this computer come first. */
function orderAgents({
  url,
  needsToken,
  found,
  loaded,
}: GatewayFacts): readonly (AgentLines & { isFound: boolean })[] {
  const isAnthropic = isAnthropicReached(loaded.config.upstreams);
  const agents = buildAgentLines({ url, needsToken, isAnthropic });
  return agents
    .map((one) => ({ ...one, isFound: found.includes(one.agent) }))
    .sort((one, other) => Number(other.isFound) - Number(one.isFound));
}

function renderAgents(listening: GatewayFacts, paint: Paint): readonly string[] {
  return orderAgents(listening).flatMap(({ agent, place, lines, isFound }) => {
    const [first = "", ...rest] = lines.split("\n");
    const name = paint(isFound ? "green" : "cyan", padText(agent, 12));
    if (rest.length === 0 && place === "shell") return [`  ${name} ${first}`];
    return [`  ${name} ${paint("dim", place)}`, ...[first, ...rest].map((line) => `    ${line}`)];
  });
}

function renderUpstreams({ loaded: { config }, env }: GatewayFacts, paint: Paint): readonly string[] {
  const width = Math.max(...config.upstreams.map(({ name }) => name.length));
  const lines = config.upstreams.map(({ name, baseUrl, prefix, models, keyEnv }) => {
    const which = [prefix && `${prefix}…`, ...(models ?? [])].filter(Boolean).join(", ");
    const key = hasKey(keyEnv, env)
      ? `key from ${keyEnv}`
      : `the agent's own key${keyEnv === undefined ? "" : `, or ${keyEnv}`}`;
    return `  ${paint("cyan", padText(escapeLine(name), width))} ${escapeLine(baseUrl)}${which && ` for ${escapeLine(which)}`} ${paint("dim", `(${escapeLine(key)})`)}`;
  });
  const missing = findMissingUpstreams(config, env).filter(
    ({ name }) => !config.upstreams.some((one) => one.name === name),
  );
  const words = missing.map(({ name, variable }) => `${variable} for ${name}`).join(", ");
  return [...lines, ...(words === "" ? [] : [paint("dim", `  for more, set ${words}`)])];
}

const RECALL_WORDS = { off: "", "after-edit": "after the first edit", always: "always" } as const;

function renderSettings({ loaded: { config, path, project }, needsToken }: GatewayFacts): readonly string[] {
  const { policy, dryRun, threshold, control, when, recall, redact, tokens } = config;
  const moment = when === "late" ? `from ${threshold}% on` : `when that pays, at the latest at ${threshold}%`;
  // Other policies remove words of the conversation too.
  const removal =
    policy === "longhaul"
      ? `removes tool output, files and images ${moment}, words only when the window is full`
      : `edits a window ${moment}`;
  const edits =
    policy === "none"
      ? "Requests pass through unchanged"
      : `Policy ${policy} ${removal}${dryRun ? " (dry run: nothing is changed)" : ""}`;
  const recalled = [
    recall.tools !== "off" && `tools ${RECALL_WORDS[recall.tools]}`,
    recall.context && "context",
  ]
    .filter(Boolean)
    .join(" and ");
  const more = [
    ...(control > 0 ? [`control group of ${Math.round(100 * control)}% of new conversations`] : []),
    `recall ${recalled || "off"}`,
    `redaction ${redact ? "on" : "off"}`,
    tokens.length > 0
      ? `tokens: ${tokens.map(({ name }) => escapeLine(name)).join(", ")}`
      : needsToken
        ? "people of the store"
        : "no token required",
  ];
  return [
    `${edits}; ${more.join(", ")}.`,
    ...[path, project.path].flatMap((one) =>
      one === undefined ? [] : [`Settings from ${escapeLine(one)}.`],
    ),
  ];
}

function hasKey(keyEnv: string | undefined, env: Environment): boolean {
  return keyEnv !== undefined && Boolean(env[keyEnv]);
}
