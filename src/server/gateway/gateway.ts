import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { System } from "../../histories/index.ts";
import { isPersonSecret } from "../../kernel/faces/people.ts";
import type { Kernel, MessageInput } from "../../kernel/index.ts";
import { ESTIMATES_FILE } from "../../kernel/usage/savings-estimates.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { readVersion } from "../../model/base/package-files.ts";
import type { AgentConnections, OidcSettings } from "../api/index.ts";
import { HistoryImport, ReplayRunner } from "../api/jobs/index.ts";
import { resumePersonErasures } from "../erasing/erase-person.ts";
import { CacheWatch } from "./cache/cache-watch.ts";
import { LIMITS_FILE, ModelLimits } from "./call/build-call-request.ts";
import { KnownCompactions } from "./call/compacted-request.ts";
import type { GatewayConfig } from "./config/config.ts";
import { toOpenableUrl } from "./config/schema-values.ts";
import type { ReloadResult } from "./config/watch-config.ts";
import { buildServerOptions, guardServer } from "./door/guard-server.ts";
import { matchToken, PersonLimits } from "./door/principal.ts";
import { addMessageKey } from "./identity/canonical-key.ts";
import { FormerPeople, findErasedPerson } from "./identity/person-ids.ts";
import { LoopStates, toWallClock } from "./limits/loop-states.ts";
import { chargeApiRequest } from "./limits/request-spending.ts";
import { SharedStates, TeamState } from "./limits/shared-states.ts";
import { OldPlaces } from "./lookup/old-places.ts";
import { Threads } from "./lookup/threads.ts";
import { createGatewayLog, logReload } from "./observe/gateway-log.ts";
import { type GatewayStatus, MemoryNotices } from "./observe/gateway-status.ts";
import { openMemoryExport } from "./observe/memory-metrics.ts";
import { createMetrics } from "./observe/metrics.ts";
import { Observer } from "./observe/observer.ts";
import { openSpans } from "./observe/spans.ts";
import { LazyApi } from "./pages/lazy-api.ts";
import { toApiError } from "./reception/answer-api.ts";
import type { HookMount, McpMount } from "./reception/answer-mcp.ts";
import { buildGatewayFacts } from "./reception/answer-page.ts";
import { Reception } from "./reception/reception.ts";
import { ReferencedItems } from "./request/referenced-items.ts";
import { SeenBodies } from "./request/seen-bodies.ts";
import { AskedRequests } from "./thread/asked-requests.ts";
import { Redactor } from "./thread/redactor.ts";
import { ResponseIds, StoredItems } from "./thread/response-ids.ts";
import { closeAgents, createAgents, PackedBodies } from "./upstream/send-upstream.ts";

/** Dependencies and settings of a gateway. */
export interface GatewayOptions {
  readonly kernel: Kernel;
  /** Returns the current settings. */
  readonly config: () => GatewayConfig;
  /** Receives log lines; default: standard error. */
  readonly log?: (line: string) => void;
  /** "json" by default; "pretty" is for terminals. */
  readonly logForm?: "json" | "pretty";
  readonly env?: NodeJS.ProcessEnv;
  /** Serves /mcp for admitted requests; without it, there is no such path. The gateway closes it. */
  readonly mcp?: McpMount;
  /** Answers agents' hooks at /hooks/<client>, like `mcp`. */
  readonly hooks?: HookMount;
  /** Connects agents of this computer for the API; gets the address when the gateway listens. */
  readonly agents?: (address: () => string) => AgentConnections;
  /** Folder for estimates of savings and limits of models that are kept between starts. */
  readonly folder?: string;
  /** The computer whose histories the API imports; default: this one. */
  readonly system?: System;
}

/** A listening gateway. */
export interface Gateway extends AsyncDisposable {
  readonly url: string;
  /** Waits for requests in progress, at most `limits.drainMs`. Idempotent. */
  close(): Promise<void>;
  /** Logs the result of a configuration reload. */
  reloaded(reloaded: ReloadResult): void;
  status(): GatewayStatus;
}

/** Budgets and periods of which the gateway remembers that it has warned. */
const MAX_WARNED = 10_000;
/** Limits learned from upstreams are shared for this long after they were learned. */
const MIN_SHARED_MS = 3_600_000;
/** Share of the conversations' memory that is used for bodies, so that they need not be parsed again. */
const BODIES_SHARE = 0.25;

/** Opens the gateway and starts listening. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { kernel, env = process.env, logForm = "json", folder } = options;
  const team = new TeamState(kernel.team);
  const config = redactForTeams(options.config, team);
  const version = readVersion();
  const startedAt = Date.now();
  const log = createGatewayLog({
    level: () => config().log.level,
    content: () => config().log.content,
    form: logForm,
    ...(options.log && { stream: { write: options.log } }),
  });
  const redactor = new Redactor((kind) => metrics.redacted.add({ kind }));
  const stored = (message: MessageInput, key: string) =>
    addMessageKey(config().redact ? redactor.redact(message) : message, key);
  const prepareStored = async (messages: readonly MessageInput[], signal?: AbortSignal) => {
    if (config().redact) await redactor.prepare(messages, signal);
  };
  const { sharedStates: store } = kernel.maintenance;
  const shared =
    store &&
    new SharedStates({
      store,
      onError: (error) => onError(error),
      keepMs: () => Math.max(MIN_SHARED_MS, config().breaker.withinMs + config().breaker.coolMs),
    });
  const rooms = new ModelLimits(kernel, config, shared, folder && join(folder, LIMITS_FILE));
  const names = () => nameBounds(config().limits);
  const oldPlaces = new OldPlaces(kernel, ({ filled, isDone }) => {
    const summary = `${isDone ? "all" : "so far"} ${filled} conversations of an earlier version can be found by a look-up`;
    log.info("places", { summary });
  });
  const presence = kernel.openPresence();
  const deps = {
    ...{
      kernel,
      oldPlaces,
      asked: new AskedRequests(kernel, presence),
      stored,
      prepareStored,
      controlShare: () => config().control,
    },
    leftThreads: () => nameBounds(config().limits).leftThreads,
  };
  const threads = new Threads(deps, () => {
    const { maxThreads, maxThreadBytes } = config().limits;
    const share = (1 - BODIES_SHARE) * kernel.maintenance.cacheShare;
    return { maxThreads, maxThreadBytes: maxThreadBytes * share };
  });
  const agents = createAgents({ keepAliveMs: config().limits.keepAliveMs });
  const metrics = createMetrics({
    version,
    activeStreams: () => reception.inFlight,
    openThreads: () => threads.count,
    connections: () => guard.connections,
    memory: () => kernel.monitor.last,
  });
  const observer = new Observer({ log, metrics, getClientWindow: rooms.getWindow.bind(rooms) });
  const { telemetry } = config();
  const spans = await openSpans({ ...telemetry, version, environment: env });
  const memoryExport = telemetry.metrics
    ? await openMemoryExport({
        endpoint: telemetry.endpoint,
        version,
        environment: env,
        intervalMs: config().monitor.intervalMs,
        read: () => kernel.monitor.last,
      })
    : undefined;
  const notices = new MemoryNotices(kernel.monitor, log);
  let url = "";
  let isOpen = true;
  const status = (): GatewayStatus => ({
    url,
    startedAt,
    isOpen,
    inFlight: reception.inFlight,
    totals: observer.totals,
    upstreams: observer.upstreams,
    memory: { sample: kernel.monitor.last, relief: kernel.monitor.lastRelief, notices: notices.newest },
    threads: observer.threads,
  });
  const onError = (error: unknown) => log.error("unexpected", { message: formatError(error) });
  const imports = new HistoryImport(kernel, options.system);
  const personLimits = new PersonLimits(() => config().limits);
  const api = new LazyApi({
    kernel,
    server: () => {
      const { totals, ...rest } = status();
      const { spending, ...counts } = totals;
      return { version, ...rest, totals: { ...counts, savings: spending.savings } };
    },
    gateway: () => buildGatewayFacts(config(), status(), env),
    imports,
    oidc: () => readOidcSettings(config(), url, env),
    estimatesFile: folder && join(folder, ESTIMATES_FILE),
    replayRunner: new ReplayRunner(kernel),
    findErasedPerson: (name) => findErasedPerson(kernel, name),
    agents: options.agents?.(() => url),
    bounds: {
      get maxPersonStreams() {
        return config().limits.maxPersonStreams;
      },
      countStored: ({ id, name }, sizeBytes) => {
        if (name === undefined) return;
        const counted = personLimits.countStored({ id, token: name }, sizeBytes);
        if (typeof counted !== "function") throw toApiError(counted);
      },
      charge: (person) => chargeApiRequest(spending, person),
    },
    onError,
  });
  const bodies = new SeenBodies(
    () =>
      config().limits.maxThreadBytes * BODIES_SHARE * threads.retention.share * kernel.maintenance.cacheShare,
  );
  const isOwnToken = (secret: string) =>
    isPersonSecret(secret) ||
    matchToken([{ header: "authorization", secret }], config().tokens, env) !== undefined;
  const gate = kernel.team.openGate(onError);
  const caches = new CacheWatch({
    ...{ kernel, config, env, agents, gate, onError },
    isGatewayToken: isOwnToken,
    onRefreshed: (upstream, dollars) => metrics.keepAliveDollars.add({ upstream }, dollars),
  });
  const removeCaches = [
    kernel.maintenance.addCache("threads", {
      sizeBytes: () => threads.sizeBytes,
      itemCount: () => threads.count,
      drop: () => threads.dropIdle(),
    }),
    kernel.maintenance.addCache("redaction", {
      sizeBytes: () => redactor.cachedBytes,
      itemCount: () => redactor.cachedTexts,
      drop: () => redactor.dropCache(),
    }),
    kernel.maintenance.addCache("prompt-caches", {
      sizeBytes: () => caches.sizeBytes,
      itemCount: () => caches.itemCount,
      drop: () => caches.drop(),
    }),
    kernel.maintenance.addCache("bodies", { sizeBytes: () => bodies.sizeBytes, drop: () => bodies.drop() }),
  ];
  const spending = {
    gate,
    state: team,
    warned: new BoundedMap<string, true>({ max: MAX_WARNED }),
    withoutUsage: new BoundedMap<string, true>({ max: MAX_WARNED }),
    onError,
  };
  const storedItems = new StoredItems(kernel);
  const reception = new Reception({
    personLimits,
    services: {
      kernel,
      spending,
      onBudgetWarning: (text) => {
        log.info("budget", { message: text, summary: text });
        metrics.budgetWarnings.add({});
        void sendAlert(config().alerts.webhook, text).catch((error: unknown) =>
          log.error("alert", { message: `The webhook did not take an alert: ${String(error)}` }),
        );
      },
      config,
      env,
      threads,
      bodies,
      caches,
      modelLimits: rooms,
      loops: new LoopStates({
        shared,
        limits: () => config().breaker,
        now: toWallClock,
        maxStates: () => nameBounds(config().limits).loops,
      }),
      responses: new ResponseIds(kernel, onError, () => nameBounds(config().limits).responses),
      items: new ReferencedItems(names, (person, ids) => storedItems.find(person, ids)),
      storedItems,
      compactions: new KnownCompactions(kernel),
      agents,
      packedBodies: new PackedBodies(),
      spans,
      stored,
      prepareStored,
      onStoreFailure: onError,
      isGatewayToken: isOwnToken,
    },
    formerPeople: new FormerPeople(kernel, onError),
    status,
    api,
    metrics,
    observer,
    sharedStates: shared,
    mcp: options.mcp,
    hooks: options.hooks,
    onError,
  });
  const server = createServer(buildServerOptions(config()));
  const guard = guardServer(server, config, reception.handle);
  // A gateway of a team is closed from its first request on, even if the store fails at that moment.
  if (await kernel.team.isInUse().catch(() => false)) spending.state.markInUse();
  url = await listen(server, config());
  oldPlaces.start(onError);
  await presence.announce(onError).catch(onError);
  const resuming = resumePersonErasures(kernel).catch(onError);
  await kernel.prepareSessions();

  // The first numbers, before the monitor's interval has passed.
  void kernel.monitor.check().catch(() => undefined);

  let closing: Promise<void> | undefined;
  const close = async () => {
    isOpen = false;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // Open streams of clients would otherwise last until the time limit.
    await api.endStreams();
    await options.mcp?.close();
    await options.hooks?.close();
    await reception.drain(config().limits.drainMs);
    server.closeAllConnections();
    await ended;
    await shared?.close();
    await api.close();
    await imports.close();
    gate.close();
    caches.close();
    await Promise.all([oldPlaces.close(), resuming]);
    await threads.close();
    // A gateway that cannot say goodbye is forgotten when its lease ends.
    await presence.close().catch(onError);
    closeAgents(agents);
    await redactor.close();
    await spans.close();
    notices.close();
    for (const remove of removeCaches) remove();
    await memoryExport?.close();
  };
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  const reloaded = (result: ReloadResult) => logReload(log, result);
  return { url, status, reloaded, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}

/** Bounds of the tables of conversations, replies and items by name. */
interface NameBounds {
  /** Conversations that are no longer in memory. */
  readonly leftThreads: number;
  /** Threads and families that are watched for loops. */
  readonly loops: number;
  readonly responses: number;
  readonly items: number;
  /** Total bytes of the items. */
  readonly itemBytes: number;
}

/** Minimum for small gateways, because clients refer to replies that are older than the conversations in memory. */
const MIN_THREADS = 100;

/** Derives the bounds from the thread limits, so that these settings suffice to bound the memory of a gateway. */
function nameBounds({ maxThreads, maxThreadBytes }: GatewayConfig["limits"]): NameBounds {
  const threads = Math.max(MIN_THREADS, maxThreads);
  return {
    leftThreads: 10 * threads,
    loops: 5 * threads,
    responses: 5 * threads,
    items: 20 * threads,
    itemBytes: maxThreadBytes / 4,
  };
}

/** The provider at which people sign in, with the address that it sends them back to. */
function readOidcSettings(
  { oidc, publicUrl, tokens }: GatewayConfig,
  url: string,
  env: NodeJS.ProcessEnv,
): OidcSettings | undefined {
  if (!oidc) return undefined;
  const { clientSecretEnv, sessionHours, ...settings } = oidc;
  return {
    ...settings,
    clientSecret: clientSecretEnv === undefined ? undefined : env[clientSecretEnv],
    sessionMs: sessionHours * 3_600_000,
    reserved: tokens.map(({ name }) => name),
    publicUrl: publicUrl ?? toOpenableUrl(url),
  };
}

/** The settings, with redaction for a store with people if nobody has decided about it. */
function redactForTeams(read: () => GatewayConfig, team: TeamState): () => GatewayConfig {
  let known: { readonly given: GatewayConfig; readonly shared: GatewayConfig } | undefined;
  return () => {
    const given = read();
    if (given.redact !== undefined || !team.isKnownInUse) return given;
    if (known?.given !== given) known = { given, shared: { ...given, redact: true } };
    return known.shared;
  };
}

const ALERT_MS = 10_000;

/** Tells another program of a budget that is nearly used up; the text names the person and the amounts. */
async function sendAlert(webhook: string | undefined, text: string): Promise<void> {
  if (webhook === undefined) return;
  const reply = await fetch(webhook, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "budget", at: new Date().toISOString(), text }),
    signal: AbortSignal.timeout(ALERT_MS),
  });
  await reply.body?.cancel();
  if (!reply.ok) throw new Error(`status ${reply.status}`);
}

async function listen(server: Server, { host, port }: GatewayConfig): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port: bound } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}

function formatError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
