import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import type { Kernel } from "../../kernel/index.ts";
import { EstimateRun } from "../../kernel/usage/savings-estimates.ts";
import type { ErasedPerson } from "../erasing/erase-person.ts";
import type { ApiServices, ServerFacts } from "./api-services.ts";
import type { AgentConnections } from "./core/agent-connections.ts";
import type { ApiCaller } from "./core/api-caller.ts";
import { ApiError } from "./core/api-error.ts";
import { toErrorReply } from "./core/error-reply.ts";
import type { GatewayFacts } from "./core/gateway-facts.ts";
import { type OidcSettings, OidcSignIn } from "./core/oidc-sign-in.ts";
import { type PersonBounds, PersonLoad } from "./core/person-load.ts";
import type { ApiRoute, RouteCall, RouteHead } from "./core/route.ts";
import { sendBytes, sendEvents, sendJson } from "./core/send-reply.ts";
import { ChangeFeed, type FeedSource } from "./events/change-feed.ts";
import type { HistoryImport } from "./jobs/history-import.ts";
import { IndexRun } from "./jobs/index-run.ts";
import { toImportJob, toIndexJob, toReplayJob } from "./jobs/job-json.ts";
import { PersonErasures } from "./jobs/person-erasures.ts";
import { ReplayJobs } from "./jobs/replay-jobs.ts";
import type { ReplayRunner } from "./jobs/replay-runner.ts";
import { buildOpenApi } from "./openapi.ts";
import { API_ROUTES } from "./routes.ts";
import { checkSampleRoute, SAMPLE_CALLER, SAMPLE_PATH, SampleServices } from "./sample/sample-services.ts";
import { StoreUsage } from "./spending/store-usage.ts";

/** Dependencies of the API. */
export interface ApiDeps {
  readonly kernel: Kernel;
  readonly server: () => ServerFacts;
  readonly gateway: () => GatewayFacts;
  readonly imports: HistoryImport;
  readonly replayRunner: ReplayRunner;
  /** Finds the places where content of a person is stored. */
  readonly findErasedPerson: (name: string) => Promise<ErasedPerson>;
  /** Connects agents of this computer; without it, the routes of agents do not exist. */
  readonly agents?: AgentConnections | undefined;
  /** File that keeps the estimates of savings between starts; without it, they are made again after each start. */
  readonly estimatesFile?: string | undefined;
  /** The provider at which people sign in. */
  readonly oidc?: (() => OidcSettings | undefined) | undefined;
  /** Bounds of one person. */
  readonly bounds: PersonBounds;
  /** Called for unexpected errors. */
  readonly onError: (error: unknown) => void;
}

/** An admitted request. */
export interface ApiRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: ApiCaller;
  /** The path after /api/v1, still encoded, and the query. */
  readonly path: string;
  readonly query: string;
  readonly body: Uint8Array;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/** The route of an answered request, for logs and metrics: names without content. */
export interface RouteName {
  readonly operation: string;
  /** With names of parameters in braces. */
  readonly path: string;
  /** True if the reply lasts as long as its reader wishes. */
  readonly isStream: boolean;
}

/** Answers the requests to /api/v1. */
export class Api {
  readonly #services: ApiServices;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #sample: SampleServices;
  readonly #load: PersonLoad;
  #document: object | undefined;

  constructor(deps: ApiDeps) {
    const { kernel, server, gateway, imports, replayRunner, agents, onError } = deps;
    const erasures = new PersonErasures(kernel, deps.findErasedPerson);
    const replays = new ReplayJobs(replayRunner);
    const indexRun = new IndexRun(kernel);
    const feed = new ChangeFeed(kernel, createFeedSource({ imports, replays, indexRun }));
    const usage = new StoreUsage(kernel);
    const estimates = new EstimateRun(kernel, deps.estimatesFile);
    this.#services = {
      ...{ kernel, server, gateway, imports, replays, indexRun, usage, feed, agents, erasures },
      ...{ estimates, onError, signIn: new OidcSignIn(kernel.team, deps.oidc ?? (() => undefined)) },
    };
    this.#sample = new SampleServices(this.#services);
    this.#onError = onError;
    this.#load = new PersonLoad(deps.bounds);
  }

  /** Sends the OpenAPI document. */
  sendDocument(response: ServerResponse, isHeadOnly = false): void {
    this.#document ??= buildOpenApi(API_ROUTES, this.#services.server().version);
    sendJson(response, { status: 200, json: this.#document }, isHeadOnly);
  }

  /** Answers one request and returns its route, undefined if there is none. Never throws. */
  async handle(incoming: ApiRequest): Promise<RouteName | undefined> {
    const { request, response } = incoming;
    const method = request.method ?? "GET";
    const isSample = incoming.path.startsWith(`${SAMPLE_PATH}/`);
    const path = isSample ? incoming.path.slice(SAMPLE_PATH.length) : incoming.path;
    let name: RouteName | undefined;
    try {
      const { route, params } = matchRoute(API_ROUTES, method, path);
      name = { operation: route.id, path: route.path, isStream: route.kind === "stream" };
      if (isSample) checkSampleRoute(route);
      const query = new URLSearchParams(incoming.query);
      const checked = checkRequest(route, { params, query, body: incoming.body });
      const signal = AbortSignal.any([incoming.signal, this.#closing.signal]);
      const lastEventId = request.headers["last-event-id"]?.toString();
      const call = {
        services: isSample ? await this.#sample.open() : this.#services,
        caller: isSample ? SAMPLE_CALLER : incoming.caller,
        ...{ ...checked, lastEventId, signal },
      };
      const weight = typeof route.weight === "function" ? route.weight(checked) : route.weight;
      const asked = { caller: incoming.caller, sizeBytes: incoming.body.length };
      await this.#load.run(route.kind === "stream" ? "stream" : weight, asked, () =>
        this.#answer(route, call, response, method === "HEAD"),
      );
    } catch (error) {
      if (response.destroyed || incoming.signal.aborted) return name;
      this.sendError(response, error, method === "HEAD");
    }
    return name;
  }

  /** Sends an error in the form of the API. */
  sendError(response: ServerResponse, error: unknown, isHeadOnly = false): void {
    const { status, headers, json, isUnexpected } = toErrorReply(error);
    if (isUnexpected) this.#onError(error);
    if (response.headersSent) response.destroy();
    else sendJson(response, { status, headers, json }, isHeadOnly);
  }

  /** Ends all streams, so that the server can close. */
  endStreams(): void {
    this.#closing.abort();
  }

  async close(): Promise<void> {
    this.endStreams();
    await this.#services.indexRun.close();
    await this.#services.replays.close();
    await this.#services.estimates.close();
    await this.#sample.close();
  }

  async #answer(
    route: ApiRoute,
    call: RouteCall,
    response: ServerResponse,
    isHeadOnly: boolean,
  ): Promise<void> {
    const { signal } = call;
    if (route.kind === "json") {
      const json = await route.handle(call);
      sendJson(response, { status: route.status ?? 200, json }, isHeadOnly);
    } else if (isHeadOnly) response.writeHead(200).end();
    else if (route.kind === "stream") await sendEvents(response, await route.handle(call), signal);
    else await sendBytes(response, await route.handle(call), signal);
  }
}

function createFeedSource({
  imports,
  replays,
  indexRun,
}: Pick<ApiServices, "imports" | "replays" | "indexRun">): FeedSource {
  return {
    onChange: (listener) => {
      const tell = (job: object | undefined) => job && listener(job, undefined);
      const ends = [
        replays.onChange((job) => listener(toReplayJob(job), job.owner)),
        imports.onChange(() => tell(toImportJob(imports))),
        indexRun.onChange(() => tell(toIndexJob(indexRun))),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** A route and the decoded parameters of the path. */
interface MatchedRoute {
  readonly route: ApiRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a path after /api/v1; throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. HEAD counts as GET. */
function matchRoute(routes: readonly ApiRoute[], method: string, path: string): MatchedRoute {
  const segments = path.split("/").map(decodeSegment);
  const found = routes.flatMap((route) => {
    const params = matchPath(route.path, segments);
    return params ? [{ route, params }] : [];
  });
  const wanted = method === "HEAD" ? "GET" : method;
  const matched = found.find(({ route }) => route.method === wanted);
  if (matched) return matched;
  const shown = JSON.stringify(`/api/v1${path}`.slice(0, 200));
  if (found.length === 0) throw new ApiError("ROUTE_NOT_FOUND", `There is nothing at ${shown}.`);
  const methods = [...new Set(found.map(({ route }) => route.method))];
  const allow = (methods.includes("GET") ? ["HEAD", ...methods] : methods).join(", ");
  throw new ApiError("METHOD_NOT_ALLOWED", `${shown} supports ${allow}, not ${method}.`, {
    headers: { allow },
  });
}

function matchPath(
  pattern: string,
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const expected = pattern.split("/");
  if (expected.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const segment = segments[index] as string;
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== segment : segment === "") return undefined;
    if (name !== undefined) params[name] = segment;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError(
      "REQUEST_INVALID",
      `${JSON.stringify(segment.slice(0, 80))} is not a valid URL encoding.`,
    );
  }
}

/** The parts of a request before they are checked. */
interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Uint8Array;
}

/** The parts of a request after they were checked. */
interface CheckedRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

const MAX_ISSUES = 5;

/** Checks a request against the schemas of its route; throws REQUEST_INVALID with every problem. */
function checkRequest(route: RouteHead, { params, query, body }: RawRequest): CheckedRequest {
  return {
    params: route.params ? check(route.params, params, "path") : {},
    query: check(route.query, toFields(query), "query"),
    body: route.body ? check(route.body, parseBody(body), "body") : undefined,
  };
}

function toFields(query: URLSearchParams): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    fields[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return fields;
}

/** An absent body counts as an empty object. */
function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) return {};
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    // The door lets a form through only where a standard demands one.
    return text.startsWith("logout_token=")
      ? Object.fromEntries(new URLSearchParams(text))
      : JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError("REQUEST_INVALID", `The body is not JSON in UTF-8: ${reason.slice(0, 200)}.`);
  }
}

function check(schema: z.ZodType | undefined, value: unknown, place: string): unknown {
  if (!schema) {
    const [unknown] = Object.keys(value as object);
    if (unknown === undefined) return {};
    throw new ApiError(
      "REQUEST_INVALID",
      `${place}: unknown argument ${JSON.stringify(unknown.slice(0, 80))}.`,
    );
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const name = path.map(String).join(".");
    return name === "" ? message : `${name}: ${message}`;
  });
  const more = checked.error.issues.length > MAX_ISSUES ? "; …" : "";
  throw new ApiError("REQUEST_INVALID", `${place}: ${problems.join("; ")}${more}.`, { details: { place } });
}
