import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isLonghaulError } from "../../../kernel/index.ts";
import { getExceptionName } from "../../../wire/bedrock/converse.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import { toObject } from "../../../wire/fields.ts";
import type { WireFault, WireName } from "../../../wire/wire.ts";
import { getWire } from "../../../wire/wires.ts";
import { sendJson, toErrorReply } from "../../api/jobs/index.ts";
import { type Admission, type AdmittedRequest, admit } from "../door/admit.ts";
import {
  KnownPeers,
  lookUpPerson,
  type PersonLimits,
  type Principal,
  TokenWatch,
} from "../door/principal.ts";
import {
  ByteShare,
  createClientSignal,
  discardBody,
  HeldBytes,
  type Incoming,
  readRequestBody,
  Semaphore,
} from "../door/read-body.ts";
import { type RequestHead, readRequestHead } from "../door/request-head.ts";
import type { Services } from "../exchange/services.ts";
import { runExchange } from "../exchange.ts";
import type { FormerPeople } from "../identity/person-ids.ts";
import { RequestSpending } from "../limits/request-spending.ts";
import type { SharedStates } from "../limits/shared-states.ts";
import { findStoreFailure, waitForStore } from "../lookup/find-thread.ts";
import type { GatewayStatus } from "../observe/gateway-status.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Observer } from "../observe/observer.ts";
import type { Trace } from "../observe/trace.ts";
import type { LazyApi } from "../pages/lazy-api.ts";
import { toUpstreamFault, UpstreamError } from "../upstream/upstream-error.ts";
import { answerApi, isApiRequest, toApiError, toApiTrace } from "./answer-api.ts";
import { answerMcp, type HookMount, type McpMount } from "./answer-mcp.ts";
import { answerPage } from "./answer-page.ts";
import { forwardRequest } from "./forward-request.ts";
import { type ReadConverse, speakConverse } from "./speak-converse.ts";

/** Dependencies of the reception. */
interface ReceptionDeps {
  readonly services: Services;
  readonly formerPeople: FormerPeople;
  readonly status: () => GatewayStatus;
  readonly api: LazyApi;
  readonly metrics: Metrics;
  readonly observer: Observer;
  /** The states that gateways on one database share; undefined for a store of one machine. */
  readonly sharedStates: SharedStates | undefined;
  readonly personLimits: PersonLimits;
  readonly mcp?: McpMount | undefined;
  readonly hooks?: HookMount | undefined;
  readonly onError: (error: unknown) => void;
}

/** Maximum number of requests that are read and prepared at once. */
const MAX_PREPARED = 16;
/** Preparing takes several times the size of a body, so bodies of this size are prepared one at a time. */
const LARGE_BYTES = 8 * 1_024 * 1_024;
/** A slower body gives up its place until it has arrived. */
const SLOW_MS = 50;
/** An aborted request ends at once, but its reply may still be waiting for the store's lock. */
const MAX_STORE_MS = 30_000;

/** Paths of Converse, and unknown paths of Bedrock, whose clients expect errors in the form of Converse. */
const CONVERSE_TARGET =
  /\/model\/[^/?]+\/(?!(?:invoke(?:-with-response-stream)?|count-tokens)\/?(?:\?|$))[^/?]+\/?(?:\?|$)/;

/** Receives requests, admits or refuses them, and passes them to their handlers. */
export class Reception {
  readonly #deps: ReceptionDeps;
  /** One for each request that can be aborted. */
  readonly #controllers = new Set<AbortController>();
  readonly #active = new Set<Promise<void>>();
  readonly #semaphore = new Semaphore(MAX_PREPARED);
  readonly #largeSemaphore = new Semaphore(1);
  readonly #held: HeldBytes;
  readonly #ownUser = process.getuid?.();
  readonly #peers = new KnownPeers();
  readonly #tokenWatch = new TokenWatch();

  constructor(deps: ReceptionDeps) {
    this.#deps = deps;
    this.#held = new HeldBytes(() => deps.services.config().limits.maxHeldBytes);
  }

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#active.size;
  }

  /** Answers one request. Never throws. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const work = this.#handle(request, response);
    this.#active.add(work);
    void work.finally(() => this.#active.delete(work));
  };

  /** Waits for requests in progress, then aborts the rest and waits until their replies are stored. */
  async drain(drainMs: number): Promise<void> {
    const late = AbortSignal.timeout(drainMs);
    const all = Promise.allSettled([...this.#active]);
    await Promise.race([all, new Promise((resolve) => late.addEventListener("abort", resolve))]);
    for (const controller of this.#controllers) controller.abort(new Error("The gateway closes."));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, MAX_STORE_MS).unref())]);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    const { config, env, kernel, spending } = this.#deps.services;
    // Also a refusal must be in the form of Converse.
    const readConverse = CONVERSE_TARGET.test(request.url ?? "")
      ? speakConverse(response, (model) => kernel.modelFacts(model).maxOutput)
      : undefined;
    try {
      const head = readRequestHead(request);
      const lookup = await lookUpPerson(head, kernel.team, spending.state);
      const admission = admit(head, config(), env, lookup);
      const stranger = lookup.isClosed ? undefined : await this.#findStranger(admission, request);
      if (stranger) return refuseClient(request, response, stranger);
      const { headers } = admission;
      for (const name in headers) response.setHeader(name, headers[name] as string);
      if (admission.type === "preflight") response.writeHead(204).end();
      else if (admission.type === "refused") {
        this.#deps.metrics.refused.add({ kind: admission.fault.kind });
        refuseClient(request, response, admission.fault, admission.api);
      } else {
        const { principal } = admission;
        const hasToken = principal.token !== undefined;
        const begun = hasToken ? this.#deps.personLimits.begin(principal) : undefined;
        if (begun && typeof begun !== "function") {
          this.#deps.metrics.refused.add({ kind: begun.kind });
          const { route } = admission.target;
          return refuseClient(request, response, begun, "api" in route ? route.api : undefined);
        }
        const admitAgain = () => this.#admitAgain(head, principal);
        const unwatch = hasToken
          ? this.#tokenWatch.add({ principal, admitAgain, end: () => response.destroy() })
          : undefined;
        try {
          const isAdmitted = async () => (await this.#admitAgain(head, undefined))?.id === principal.id;
          await this.#admitted(request, response, { ...admission, isAdmitted }, startedMs, readConverse);
        } finally {
          unwatch?.();
          begun?.();
        }
      }
    } catch (error) {
      this.#deps.onError(error);
      response.destroy();
    }
  }

  /** The person of a request in progress as of now; `former` while the store cannot be asked. */
  async #admitAgain(head: RequestHead, former: Principal | undefined): Promise<Principal | undefined> {
    const { config, env, kernel, spending } = this.#deps.services;
    const lookup = await lookUpPerson(head, kernel.team, spending.state);
    if (lookup.hasFailed) return former;
    const admission = admit(head, config(), env, lookup);
    return admission.type === "admitted" ? admission.principal : undefined;
  }

  /** Without tokens, the gateway serves only the user who runs it, not every account on the machine. */
  async #findStranger(admission: Admission, { socket }: IncomingMessage): Promise<WireFault | undefined> {
    if (admission.type !== "admitted" || admission.principal.token !== undefined) return undefined;
    const { tokens, team } = this.#deps.services.config();
    if (tokens.length > 0 || team) return undefined;
    const { route } = admission.target;
    if (route.type === "page" && (route.name === "healthz" || route.name === "readyz")) return undefined;
    const peer = await this.#peers.find(socket);
    const own = this.#ownUser;
    if (peer.type === "unknown" || (peer.type === "user" && (peer.uid === own || peer.uid === 0)))
      return undefined;
    this.#deps.metrics.refused.add({ kind: "forbidden" });
    const message =
      "The gateway serves the user who runs it alone; with LONGHAUL_TOKEN set, others who have the token can use it.";
    return { status: 403, kind: "forbidden", message };
  }

  async #admitted(
    request: IncomingMessage,
    response: ServerResponse,
    admission: AdmittedRequest & Pick<Incoming, "isAdmitted">,
    startedMs: number,
    readConverse: ReadConverse | undefined,
  ): Promise<void> {
    const { route } = admission.target;
    if (route.type === "page") {
      const isApi = route.name === "v1" || route.name === "openapi";
      await (isApi
        ? this.#api(request, response, admission, startedMs)
        : this.#page(request, response, admission));
      return;
    }
    if (route.type === "mcp" || route.type === "hooks") {
      const { hooks } = this.#deps;
      const mount: Pick<McpMount, "handle"> | undefined =
        route.type === "mcp"
          ? this.#deps.mcp
          : hooks && {
              handle: (...[ask, reply, call]) => hooks.handle(ask, reply, { ...call, client: route.client }),
            };
      await this.#mounted(request, response, admission, mount);
      return;
    }
    const trace: Trace = { id: randomUUID(), startedMs, api: route.api, principal: admission.principal.id };
    const controller = new AbortController();
    const signal = createClientSignal(response, controller);
    this.#controllers.add(controller);
    const share = new ByteShare(this.#held);
    const { spending: budgets } = this.#deps.services;
    const { token } = admission.principal;
    let spending: RequestSpending | undefined;
    let onStored: Incoming["onStored"];
    try {
      const { limits } = this.#deps.services.config();
      const { sharedStates } = this.#deps;
      const away = sharedStates && (await waitForStore(sharedStates, signal));
      if (away) throw new FaultError(away);
      if (await budgets.state.isInUse()) spending = new RequestSpending(budgets, token);
      await this.#semaphore.acquire(request);
      // A slow sender must not block others.
      const slow = setTimeout(() => this.#semaphore.release(request), SLOW_MS).unref();
      const { encoding } = admission;
      const read = await readRequestBody(request, limits, { encoding, signal, response, share });
      clearTimeout(slow);
      if (read.type === "read" && read.body.length >= LARGE_BYTES) {
        this.#semaphore.release(request);
        await this.#largeSemaphore.acquire(request);
      }
      await this.#semaphore.acquire(request);
      if (read.type === "gone") {
        trace.ending = "client-gone";
        return;
      }
      if (read.type === "refused") throw new FaultError(read.fault);
      const { target } = admission;
      const complete = await this.#deps.formerPeople.complete(admission.principal);
      const principal = token === undefined ? complete : await completePerson(complete, token, this.#deps);
      let { body, raw } = read;
      if (readConverse && route.type === "api") raw = body = readConverse(request, body, route.model ?? "");
      const isExchange = route.type === "api" && route.action === "create";
      if (isExchange && token !== undefined) {
        const counted = this.#deps.personLimits.countStored(principal, body.length);
        if (typeof counted !== "function") throw new FaultError(counted);
        onStored = counted;
      }
      const onPrepared = () => {
        this.#semaphore.release(request);
        this.#largeSemaphore.release(request);
      };
      const { query } = target;
      const answer = isExchange ? runExchange : forwardRequest;
      const incoming = {
        ...{ request, response, principal, route, query, body, raw },
        ...{ signal, trace, spending, onPrepared, onStored, isAdmitted: admission.isAdmitted },
      };
      await answer(incoming, this.#deps.services);
    } catch (error) {
      this.#failed(error, request, response, trace);
    } finally {
      this.#semaphore.release(request);
      this.#largeSemaphore.release(request);
      share.settle(0);
      // A request that failed before its messages were counted has stored none.
      onStored?.(0);
      this.#controllers.delete(controller);
      trace.endedMs = performance.now();
      this.#deps.observer.recordEnd(trace);
      await spending?.end();
    }
  }

  async #api(
    request: IncomingMessage,
    response: ServerResponse,
    admission: AdmittedRequest,
    startedMs: number,
  ): Promise<void> {
    const { api, formerPeople, services } = this.#deps;
    const controller = new AbortController();
    this.#controllers.add(controller);
    const { limits } = services.config();
    try {
      const deps = { api, formerPeople, limits, held: this.#held, controller };
      const route = await answerApi(request, response, admission, deps);
      this.#deps.observer.recordApi(toApiTrace(request, response, { route, admission, startedMs }));
    } catch (error) {
      // The API itself could not be loaded, for instance because too many files are open.
      this.#deps.onError(error);
      const message = "The API cannot be loaded at the moment; try again, and see the gateway's log.";
      if (response.headersSent) response.destroy();
      else refuseClient(request, response, { status: 503, kind: "unavailable", message });
    } finally {
      this.#controllers.delete(controller);
    }
  }

  async #page(request: IncomingMessage, response: ServerResponse, admission: AdmittedRequest): Promise<void> {
    if (await answerPage(request, response, admission, this.#deps)) return;
    const message = `There is no page ${admission.target.path}.`;
    refuseClient(request, response, { status: 404, kind: "not_found", message });
  }

  async #mounted(
    request: IncomingMessage,
    response: ServerResponse,
    admission: AdmittedRequest,
    mcp: Pick<McpMount, "handle"> | undefined,
  ): Promise<void> {
    const { formerPeople, services } = this.#deps;
    const controller = new AbortController();
    this.#controllers.add(controller);
    const { limits } = services.config();
    try {
      const deps = { mcp, formerPeople, limits, held: this.#held, controller };
      await answerMcp(request, response, admission, deps);
    } catch (error) {
      if (!(error instanceof FaultError)) this.#deps.onError(error);
      if (response.headersSent) response.destroy();
      else refuseClient(request, response, error instanceof FaultError ? error.fault : toFault(error));
    } finally {
      this.#controllers.delete(controller);
    }
  }

  #failed(error: unknown, request: IncomingMessage, response: ServerResponse, trace: Trace): void {
    if (response.destroyed || (response.headersSent && response.writableEnded)) {
      // The client has its reply, but it was not stored.
      const code = findStoreFailure(error);
      if (code !== undefined) {
        trace.error = code;
        this.#deps.onError(error);
      }
      trace.ending ??= "client-gone";
      return;
    }
    const fault = error instanceof FaultError ? error.fault : toFault(error, trace.upstream);
    if (fault.kind === "internal") this.#deps.onError(error);
    trace.status = fault.status;
    trace.error = fault.kind;
    trace.ending ??= "failed";
    if (response.headersSent) response.destroy();
    else refuseClient(request, response, fault, trace.api);
  }
}

/** The principal of a token; that of a token of the configuration with the store's person of its name. */
async function completePerson(
  principal: Principal,
  token: string,
  { services, onError }: Pick<ReceptionDeps, "services" | "onError">,
): Promise<Principal> {
  if (principal.person || !(await services.spending.state.isInUse())) return principal;
  const found = await services.kernel.team.find(token).catch(onError);
  return found ? { ...principal, person: found } : principal;
}

/** Sends an error in the form of the API that was asked, and reads the rest of the request away. */
function refuseClient(
  request: IncomingMessage,
  response: ServerResponse,
  fault: WireFault,
  api?: WireName,
): void {
  if (isApiRequest(request)) {
    if (!request.complete) response.setHeader("connection", "close");
    const { status, headers, json } = toErrorReply(toApiError(fault));
    sendJson(response, { status, headers, json }, request.method === "HEAD");
    discardBody(request);
    return;
  }
  const isBedrock = /\/model\/[^/?]+\/(?:invoke|count-tokens)/.test(request.url ?? "");
  const encoded = getWire(api ?? "openai-chat").encodeFault(fault);
  // Amazon's SDKs read a message at the top, and the name of the error in a header.
  const body = JSON.stringify(isBedrock ? { message: fault.message, ...toObject(encoded) } : encoded);
  response.writeHead(fault.status, {
    ...fault.headers,
    ...(isBedrock && { "x-amzn-ErrorType": getExceptionName(fault.status) }),
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(!request.complete && { connection: "close" }),
  });
  response.end(body);
  discardBody(request);
}

const STORE_CODES = ["DISK_FULL", "STORE_BUSY", "STORE_IO", "STORE_READ_ONLY"] as const;

/** The fault for an internal error: reveals a remedy, but no internals. */
function toFault(error: unknown, upstream = "upstream"): WireFault {
  if (error instanceof UpstreamError) return toUpstreamFault(error, { name: upstream });
  return STORE_CODES.some((code) => isLonghaulError(error, code))
    ? { status: 503, kind: "unavailable", message: "The gateway cannot use its store; see its log." }
    : { status: 500, kind: "internal", message: "The gateway failed; see its log." };
}
