import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmittedRequest } from "./door/admit.ts";
import type { FormerPeople } from "./identity/former-people.ts";
import { listSessionPrefixes } from "./identity/person-ids.ts";
import { METRICS_TYPE, type Metrics } from "./observe/metrics.ts";
import { sendDashboard } from "./pages/dashboard/send-dashboard.ts";
import type { Pages } from "./pages/pages.ts";

/** Dependencies of the way from the door to the pages. */
interface PageDoorDeps {
  readonly pages: Pages;
  readonly metrics: Metrics;
  readonly formerPeople: FormerPeople;
}

/** Answers a request for the dashboard, the metrics or another page; returns false if there is no such page. */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  { principal, target }: AdmittedRequest,
  { pages, metrics, formerPeople }: PageDoorDeps,
): Promise<boolean> {
  const name = target.route.type === "page" ? target.route.name : undefined;
  if (name === "dashboard" || name === "asset") {
    await sendDashboard(request, response, name === "asset" ? target.path : "/index.html");
    return true;
  }
  if (name === "metrics") {
    response.writeHead(200, { "content-type": METRICS_TYPE }).end(metrics.render());
    return true;
  }
  const isAll = principal.token === undefined;
  const reader = isAll ? {} : { prefixes: listSessionPrefixes(await formerPeople.complete(principal)) };
  return await pages.handle(request, response, reader);
}
