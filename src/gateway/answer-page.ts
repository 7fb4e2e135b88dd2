import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmittedRequest } from "./door/admit.ts";
import type { Services } from "./exchange/services.ts";
import type { LazyApi } from "./lazy-api.ts";
import type { GatewayStatus } from "./observe/gateway-status.ts";
import { METRICS_TYPE, type Metrics } from "./observe/metrics.ts";
import { sendDashboard } from "./pages/dashboard/send-dashboard.ts";
import { sendPage } from "./pages/page-reply.ts";
import { buildHealthPage, buildReadyPage } from "./pages/probe-pages.ts";

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
