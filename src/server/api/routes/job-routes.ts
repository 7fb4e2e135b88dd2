import { z } from "zod";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { type ApiCaller, isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about } from "../core/named-schema.ts";
import { requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute, type RouteCall } from "../core/route.ts";
import { requireJob, toImportJob, toIndexJob, toReplayJob } from "../jobs/job-json.ts";
import { sessionIdSchema } from "../schemas/common-schemas.ts";
import { historySchema, jobSchema } from "../schemas/job-schemas.ts";

const tag = "Jobs";
/** A conversation is held in memory while it is replayed. */
const MAX_ENTRIES = 20_000;
const jobParams = z.strictObject({ job: z.string().min(1).max(100) });

const startReplay = defineRoute(
  {
    id: "startReplay",
    method: "POST",
    path: "/replays",
    tag,
    summary: "Replay a conversation under other policies",
    description: "Runs in a thread of its own, one replay at a time. GET /jobs/{job} returns the scores.",
    body: z.strictObject({
      session: sessionIdSchema,
      window: about(
        z.number().int().min(1_000).max(10_000_000).default(64_000),
        "Window of the model, in tokens.",
      ),
      policies: about(z.array(z.string()).min(1).optional(), "Names of policies; default: all."),
      curves: about(z.boolean().default(false), "True: adds the size of the window at each request."),
    }),
    reply: jobSchema,
    status: 202,
    errors: ["SESSION_NOT_FOUND", "REPLAY_TOO_LONG", "JOB_BUSY"],
  },
  async ({ services: { kernel, replays }, caller, body }) => {
    const { id: session } = await requireRecord(kernel, caller, body.session);
    const { window, policies, curves } = body;
    const job = await replays.start(caller.id, {
      session,
      window,
      ...dropUndefined({ policies }),
      hasCurves: curves,
      maxEntries: MAX_ENTRIES,
    });
    return toReplayJob(job);
  },
);

const startImport = defineRoute(
  {
    id: "startImport",
    method: "POST",
    path: "/imports",
    tag,
    summary: "Import the histories of agents on the gateway's machine",
    description:
      "Only for the person who runs the gateway. Reads the well-known folders of agents, one run at a time; if one is running, its job is returned.",
    body: z.strictObject({
      formats: about(
        z.array(z.string()).min(1).optional(),
        "Names of agents, such as claude-code; default: all.",
      ),
    }),
    reply: jobSchema,
    status: 202,
    errors: ["FORBIDDEN"],
  },
  async ({ services: { imports }, caller, body }) => {
    checkMayImport(caller);
    imports.start(body.formats);
    return requireJob(toImportJob(imports), "import");
  },
);

const listImportPlaces = defineRoute(
  {
    id: "listImportPlaces",
    method: "GET",
    path: "/imports/places",
    tag,
    summary: "List the folders of agents on the gateway's machine that an import reads",
    description: "Only for the person who runs the gateway.",
    reply: z.object({ places: z.array(z.object({ agent: z.string(), path: z.string() })) }),
    errors: ["FORBIDDEN"],
  },
  async ({ services: { imports }, caller }) => {
    checkMayImport(caller);
    return { places: await imports.findPlaces() };
  },
);

const listHistories = defineRoute(
  {
    id: "listHistories",
    method: "GET",
    path: "/imports/histories",
    tag,
    summary: "List what agents on the gateway's machine keep and delete, compared with the store",
    description:
      "Only for the person who runs the gateway. A conversation that its agent deletes soon and that is not stored is kept by POST /imports.",
    reply: z.object({ histories: z.array(historySchema) }),
    errors: ["FORBIDDEN"],
  },
  async ({ services: { imports }, caller }) => {
    checkMayImport(caller);
    return { histories: await imports.examine() };
  },
);

function checkMayImport(caller: ApiCaller): void {
  if (isAdminCaller(caller)) return;
  throw new ApiError("FORBIDDEN", "Only the person who runs the gateway may import files of its machine.");
}

const listJobs = defineRoute(
  {
    id: "listJobs",
    method: "GET",
    path: "/jobs",
    tag,
    summary: "List jobs, newest first",
    reply: z.object({ jobs: z.array(jobSchema) }),
  },
  async ({ services, caller }) => ({ jobs: collectJobs(services, caller) }),
);

function collectJobs({ replays, imports, indexRun }: RouteCall["services"], caller: ApiCaller) {
  const own = isAdminCaller(caller) ? [toImportJob(imports), toIndexJob(indexRun)] : [];
  const jobs = [...replays.list(caller.id).map(toReplayJob), ...own.filter((job) => job !== undefined)];
  return jobs.sort((one, other) => other.startedAt - one.startedAt);
}

const getJob = defineRoute(
  {
    id: "getJob",
    method: "GET",
    path: "/jobs/{job}",
    tag,
    summary: "Show one job",
    params: jobParams,
    reply: jobSchema,
    errors: ["JOB_NOT_FOUND"],
  },
  async ({ services, caller, params: { job } }) =>
    requireJob(
      collectJobs(services, caller).find(({ id }) => id === job),
      job,
    ),
);

const stopJob = defineRoute(
  {
    id: "stopJob",
    method: "DELETE",
    path: "/jobs/{job}",
    tag,
    summary: "Stop a job; imported conversations are kept",
    params: jobParams,
    reply: jobSchema,
    errors: ["JOB_NOT_FOUND"],
  },
  async ({ services, caller, params: { job } }) => {
    const find = () =>
      requireJob(
        collectJobs(services, caller).find(({ id }) => id === job),
        job,
      );
    const { type } = find();
    if (type === "import") await services.imports.close();
    else if (type === "index") await services.indexRun.close();
    else await services.replays.stop(job);
    return find();
  },
);

export const JOB_ROUTES = [
  startReplay,
  startImport,
  listImportPlaces,
  listHistories,
  listJobs,
  getJob,
  stopJob,
] as const satisfies readonly ApiRoute[];
