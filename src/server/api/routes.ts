import type { ApiRoute } from "./core/route.ts";
import { AGENT_ROUTES } from "./routes/agent-routes.ts";
import { APPEND_ROUTES } from "./routes/append-routes.ts";
import { CACHE_ROUTES } from "./routes/cache-routes.ts";
import { ENTRY_ROUTES } from "./routes/entry-routes.ts";
import { JOB_ROUTES } from "./routes/job-routes.ts";
import { EDIT_ROUTES, LINE_ROUTES } from "./routes/line-routes.ts";
import { MEMORY_ORDER_ROUTES, MEMORY_ROUTES } from "./routes/memory-routes.ts";
import { ERASURE_ROUTES, PEOPLE_ROUTES } from "./routes/people-routes.ts";
import { INDEX_ROUTES, RECALL_ROUTES } from "./routes/recall-routes.ts";
import { GATEWAY_ROUTES, SERVER_ROUTES } from "./routes/server-routes.ts";
import { EXPORT_ROUTES, FACT_ROUTES, SESSION_ROUTES } from "./routes/session-routes.ts";
import { SIGN_IN_ROUTES } from "./routes/sign-in-routes.ts";
import { TASK_ROUTES } from "./routes/task-routes.ts";
import { CURVE_ROUTES, USAGE_ROUTES } from "./routes/usage-routes.ts";
import { FIT_ROUTES, WINDOW_ROUTES } from "./routes/window-routes.ts";

/** Every route of the API; the document and the tests are made from this list. */
export const API_ROUTES = [
  ...SESSION_ROUTES,
  ...EXPORT_ROUTES,
  ...ENTRY_ROUTES,
  ...APPEND_ROUTES,
  ...WINDOW_ROUTES,
  ...CURVE_ROUTES,
  ...EDIT_ROUTES,
  ...LINE_ROUTES,
  ...FACT_ROUTES,
  ...RECALL_ROUTES,
  ...MEMORY_ROUTES,
  ...MEMORY_ORDER_ROUTES,
  ...TASK_ROUTES,
  ...USAGE_ROUTES,
  ...CACHE_ROUTES,
  ...PEOPLE_ROUTES,
  ...SIGN_IN_ROUTES,
  ...ERASURE_ROUTES,
  ...JOB_ROUTES,
  ...INDEX_ROUTES,
  ...FIT_ROUTES,
  ...AGENT_ROUTES,
  ...SERVER_ROUTES,
  ...GATEWAY_ROUTES,
] as const satisfies readonly ApiRoute[];
