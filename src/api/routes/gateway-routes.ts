import { isAdminCaller, isVisibleTo } from "../core/api-caller.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { gatewaySchema } from "../schemas/gateway-schemas.ts";

const getGateway = defineRoute(
  {
    id: "getGateway",
    method: "GET",
    path: "/gateway",
    tag: "Server",
    summary: "Show the gateway's upstreams and settings, and the conversations that go through it now",
    reply: gatewaySchema,
  },
  async ({ services: { server, gateway }, caller }) => {
    const { version, startedAt, isOpen, inFlight, totals } = server();
    const { spending, threads, ...facts } = gateway();
    const { requests, failures, edits, healed } = totals;
    return {
      ...{ version, now: Date.now(), startedAt, isOpen, inFlight },
      ...facts,
      // Sums over all people would reveal one person's activity to another.
      totals: isAdminCaller(caller) ? { requests, failures, edits, healed, spending } : null,
      threads: threads.filter(({ session }) => isVisibleTo(caller, session)),
    };
  },
);

export const GATEWAY_ROUTES = [getGateway] as const satisfies readonly ApiRoute[];
