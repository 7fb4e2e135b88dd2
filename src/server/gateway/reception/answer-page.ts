import type { IncomingMessage, ServerResponse } from "node:http";
import type { Kernel } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { runWithTimeLimit } from "../../../model/base/time-limit.ts";
import type { GatewayFacts } from "../../api/index.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Environment } from "../config/config-flags.ts";
import { toOpenableUrl } from "../config/schema-values.ts";
import { findMissingUpstreams, isAnthropicReached } from "../config/well-known-upstreams.ts";
import type { AdmittedRequest } from "../door/admit.ts";
import type { Services } from "../exchange/services.ts";
import type { GatewayStatus } from "../observe/gateway-status.ts";
import { METRICS_TYPE, type Metrics } from "../observe/metrics.ts";
import { buildAgentLines } from "../pages/agent-lines.ts";
import type { LazyApi } from "../pages/lazy-api.ts";
import { sendDashboard } from "../pages/send-dashboard.ts";

/** The response of a page for programs. */
interface PageReply {
  readonly status?: number;
  readonly json: unknown;
}

/** Prevents caching, content sniffing, framing and access by other origins. */
const GUARD_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Dependencies of the way from the door to the pages. */
interface PageDoorDeps {
  readonly services: Pick<Services, "kernel" | "config">;
  readonly status: () => GatewayStatus;
  readonly metrics: Metrics;
  readonly api: LazyApi;
}

/** Answers a request for the dashboard, the metrics or a probe; returns false if there is no such page. */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  { principal, target }: AdmittedRequest,
  { services, status, metrics, api }: PageDoorDeps,
): Promise<boolean> {
  const name = target.route.type === "page" ? target.route.name : undefined;
  const isHeadOnly = request.method === "HEAD";
  // No page reads a body; an unread one would block the connection.
  request.resume();
  if (name === "dashboard" || name === "asset")
    await sendDashboard(request, response, name === "asset" ? target.path : "/index.html");
  else if (name === "metrics") {
    const people = principal.role === "admin" ? metrics.people.render(await listPeople(services)) : "";
    response.writeHead(200, { "content-type": METRICS_TYPE }).end(metrics.render() + people);
  } else if (name === "healthz") sendPage(response, buildHealthPage(), isHeadOnly);
  else if (name === "readyz")
    sendPage(response, await buildReadyPage(services.kernel, status(), api), isHeadOnly);
  else return false;
  return true;
}

/** The names of people with tokens, of the store and of the configuration. */
async function listPeople({
  kernel,
  config,
}: Pick<Services, "kernel" | "config">): Promise<ReadonlySet<string>> {
  const people = await kernel.team.people();
  return new Set([...people, ...config().tokens].map(({ name }) => name));
}

const UNUSED = { requests: 0, failures: 0 };

/** Facts about the gateway for the API. No key is among them, only the names of their variables. */
export function buildGatewayFacts(
  config: GatewayConfig,
  { url, totals, threads, upstreams: used }: GatewayStatus,
  env: Environment,
): GatewayFacts {
  const { policy, dryRun, threshold, control, recall, redact = false, tokens, publicUrl } = config;
  const known = new Map(used.map((one) => [one.name, one]));
  const upstreams = config.upstreams.map(({ name, baseUrl, apis, prefix, models, keyEnv }) => ({
    ...(known.get(name) ?? UNUSED),
    ...{ name, baseUrl, apis },
    ...dropUndefined({ prefix, models, keyEnv }),
    hasKey: keyEnv !== undefined && Boolean(env[keyEnv]),
  }));
  const settings = {
    ...{ policy, dryRun, threshold, control, redact },
    recall: { offer: recall.offer ?? "by price", context: recall.context ?? false },
  };
  const address = publicUrl ?? toOpenableUrl(url);
  return {
    url: address,
    settings,
    upstreams,
    missing: findMissingUpstreams(config, env),
    spending: totals.spending,
    threads,
    agents: buildAgentLines({
      url: address,
      needsToken: tokens.length > 0,
      isAnthropic: isAnthropicReached(config.upstreams),
    }),
  };
}

/** Liveness check. */
function buildHealthPage(): PageReply {
  return { json: { status: "ok" } };
}

const MAX_PROBE_MS = 2_000;

/** Readiness check: fails while the gateway drains, or while its store cannot be written or its API cannot be loaded. */
export async function buildReadyPage(
  kernel: Kernel,
  status: GatewayStatus,
  api: Pick<LazyApi, "isUsable">,
): Promise<PageReply> {
  const reasons: string[] = [];
  if (!status.isOpen) reasons.push("draining");
  await runWithTimeLimit({ limitMs: MAX_PROBE_MS }, () => kernel.probe()).catch(() => reasons.push("store"));
  if (!(await api.isUsable())) reasons.push("api");
  const isReady = reasons.length === 0;
  return { status: isReady ? 200 : 503, json: { status: isReady ? "ready" : "not ready", reasons } };
}

/** Sends a response, without its body for a HEAD request. */
function sendPage(response: ServerResponse, { status = 200, json }: PageReply, isHeadOnly: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const text = `${JSON.stringify(json)}\n`;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    ...GUARD_HEADERS,
    "content-length": Buffer.byteLength(text),
  });
  response.end(isHeadOnly ? undefined : text);
}
