import type { IncomingMessage, ServerResponse } from "node:http";
import type { ErasedPerson } from "../conversation/erasing/erase-person.ts";
import type { Kernel } from "../index.ts";
import type { ApiServices, ServerFacts } from "./api-services.ts";
import type { AgentConnections } from "./core/agent-connections.ts";
import type { ApiCaller } from "./core/api-caller.ts";
import { checkRequest } from "./core/check-request.ts";
import { toErrorReply } from "./core/error-reply.ts";
import type { GatewayFacts } from "./core/gateway-facts.ts";
import { matchRoute } from "./core/match-route.ts";
import { type PersonBounds, PersonLoad } from "./core/person-load.ts";
import type { ApiRoute, RouteCall } from "./core/route.ts";
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
    this.#services = { kernel, server, gateway, imports, replays, indexRun, usage, feed, agents, erasures };
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
