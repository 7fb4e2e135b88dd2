import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isLonghaulError } from "../index.ts";
import type { ApiName, Fault } from "./api/api.ts";
import { apiOf } from "./api/apis.ts";
import { type Admission, admit } from "./door/admit.ts";
import { ByteBudget } from "./door/byte-budget.ts";
import { discardBody } from "./door/discard-body.ts";
import { type PeerUser, peerUser } from "./door/peer-user.ts";
import { readBody } from "./door/read-body.ts";
import { factsOf } from "./door/request-facts.ts";
import { Turnstile } from "./door/turnstile.ts";
import { exchange } from "./exchange/exchange.ts";
import { FaultError } from "./exchange/fault-error.ts";
import type { Admitted, ExchangeParts } from "./exchange/parts.ts";
import { passOn } from "./exchange/pass-on.ts";
import { storeTroubleOf } from "./exchange/store-trouble.ts";
import { METRICS_TYPE, type Metrics } from "./observe/metrics.ts";
import type { Observer } from "./observe/observer.ts";
import type { Trace } from "./observe/trace.ts";
import type { Pages } from "./pages/pages.ts";
import { clientSignal } from "./stream/client-signal.ts";
import { sessionPrefix } from "./thread/names.ts";
import { faultOfUpstream } from "./upstream/fault-of.ts";
import { UpstreamError } from "./upstream/upstream-error.ts";

/** Dependencies of the reception. */
export interface ReceptionParts {
  readonly exchange: ExchangeParts;
  readonly pages: Pages;
  readonly metrics: Metrics;
  readonly observer: Observer;
  readonly onError: (error: unknown) => void;
}

/** Maximum number of requests that are read and prepared at once. */
const MOST_PREPARED = 16;
/** Preparing takes several times the size of a body, so bodies of this size are prepared one at a time. */
const LARGE_BYTES = 8 * 1_024 * 1_024;
/** A slower body gives up its place until it has arrived. */
const SLOW_MS = 50;

type Granted = Extract<Admission, { readonly type: "admitted" }>;

/** Receives requests, admits or refuses them, and passes them to their handlers. */
export class Reception {
  readonly #parts: ReceptionParts;
  /** One for each request that can be aborted. */
  readonly #controllers = new Set<AbortController>();
  readonly #active = new Set<Promise<void>>();
  readonly #turnstile = new Turnstile(MOST_PREPARED);
  readonly #largeTurnstile = new Turnstile(1);
  readonly #budget: ByteBudget;
  /** The user at the other end of each connection. */
  readonly #peers = new WeakMap<Socket, Promise<PeerUser>>();

  constructor(parts: ReceptionParts) {
    this.#parts = parts;
    this.#budget = new ByteBudget(() => parts.exchange.config().limits.maxHeldBytes);
  }

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#active.size;
  }

  /** Answers one request. Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const work = this.#handle(request, response);
    this.#active.add(work);
    await work;
    this.#active.delete(work);
  }

  /** Waits for requests in progress, then aborts the rest. */
  async drain(drainMs: number): Promise<void> {
    const late = AbortSignal.timeout(drainMs);
    const all = Promise.allSettled([...this.#active]);
    await Promise.race([all, new Promise((resolve) => late.addEventListener("abort", resolve))]);
    for (const controller of this.#controllers) controller.abort(new Error("The gateway closes."));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    const { config, env } = this.#parts.exchange;
    try {
      const admission = admit(factsOf(request), config(), env);
      const stranger = await this.#strangerFault(request, admission);
      if (stranger) return this.#refuse(request, response, stranger);
      for (const [name, value] of Object.entries(admission.headers)) response.setHeader(name, value);
      if (admission.type === "preflight") response.writeHead(204).end();
      else if (admission.type === "refused") {
        this.#parts.metrics.refused.add({ kind: admission.fault.kind });
        this.#refuse(request, response, admission.fault, admission.api);
      } else await this.#admitted(request, response, admission, startedMs);
    } catch (error) {
      this.#parts.onError(error);
      response.destroy();
    }
  }

  /** Without tokens, the gateway serves only the user who runs it, not every account on the machine. */
  async #strangerFault(request: IncomingMessage, admission: Admission): Promise<Fault | undefined> {
    if (admission.type !== "admitted" || this.#parts.exchange.config().tokens.length > 0) return undefined;
    const { route } = admission.target;
    if (route.type === "page" && (route.name === "healthz" || route.name === "readyz")) return undefined;
    const known = this.#peers.get(request.socket) ?? peerUser(request.socket);
    this.#peers.set(request.socket, known);
    const peer = await known;
    const own = process.getuid?.();
    if (peer.type === "unknown" || (peer.type === "user" && (peer.uid === own || peer.uid === 0)))
      return undefined;
    this.#parts.metrics.refused.add({ kind: "forbidden" });
    const message =
      "The gateway serves the user who runs it alone; with LONGHAUL_TOKEN set, others who have the token can use it.";
    return { status: 403, kind: "forbidden", message };
  }

  async #admitted(
    request: IncomingMessage,
    response: ServerResponse,
    admission: Granted,
    startedMs: number,
  ): Promise<void> {
    const { route } = admission.target;
    if (route.type === "page") {
      await this.#page(request, response, admission, route.name);
      return;
    }
    const trace: Trace = { id: randomUUID(), startedMs, api: route.api, principal: admission.principal.id };
    const controller = new AbortController();
    const signal = clientSignal(response, controller);
    this.#controllers.add(controller);
    const place = this.#turnstile.place();
    const largePlace = this.#largeTurnstile.place();
    const share = this.#budget.share();
    try {
      const { limits } = this.#parts.exchange.config();
      await place.take();
      // A slow sender must not block others.
      const slow = setTimeout(() => place.give(), SLOW_MS).unref();
      const { encoding } = admission;
      const read = await readBody(request, limits, { encoding, signal, response, share });
      clearTimeout(slow);
      if (read.type === "read" && read.body.length >= LARGE_BYTES) {
        place.give();
        await largePlace.take();
      }
      await place.take();
      if (read.type === "gone") {
        trace.ending = "client-gone";
        return;
      }
      if (read.type === "refused") throw new FaultError(read.fault);
      const { principal, target } = admission;
      const { body, raw } = read;
      const onPrepared = () => {
        place.give();
        largePlace.give();
      };
      const asked = { request, response, principal, route, query: target.query, onPrepared };
      await this.#answer({ ...asked, body, raw, signal, trace });
    } catch (error) {
      this.#failed(error, request, response, trace);
    } finally {
      place.give();
      largePlace.give();
      share.give();
      this.#controllers.delete(controller);
      trace.endedMs = performance.now();
      this.#parts.observer.ended(trace);
    }
  }

  async #answer(admitted: Admitted): Promise<void> {
    const parts = this.#parts.exchange;
    const { route } = admitted;
    if (route.type === "api" && route.action === "create") await exchange(admitted, parts);
    else await passOn(admitted, parts);
  }

  async #page(
    request: IncomingMessage,
    response: ServerResponse,
    { principal, target }: Granted,
    name: string,
  ): Promise<void> {
    if (name === "metrics") {
      response.writeHead(200, { "content-type": METRICS_TYPE }).end(this.#parts.metrics.render());
      return;
    }
    const reader = principal.token === undefined ? {} : { prefix: sessionPrefix(principal.id) };
    if (await this.#parts.pages.handle(request, response, reader)) return;
    this.#refuse(request, response, {
      status: 404,
      kind: "not_found",
      message: `There is no page ${target.path}.`,
    });
  }

  #failed(error: unknown, request: IncomingMessage, response: ServerResponse, trace: Trace): void {
    if (response.destroyed || (response.headersSent && response.writableEnded)) {
      // The client has its reply, but it was not stored.
      const code = storeTroubleOf(error);
      if (code !== undefined) {
        trace.error = code;
        this.#parts.onError(error);
      }
      trace.ending ??= "client-gone";
      return;
    }
    const fault = error instanceof FaultError ? error.fault : faultOf(error, trace.upstream);
    if (fault.kind === "internal") this.#parts.onError(error);
    trace.status = fault.status;
    trace.error = fault.kind;
    trace.ending ??= "failed";
    if (response.headersSent) response.destroy();
    else this.#refuse(request, response, fault, trace.api);
  }

  #refuse(request: IncomingMessage, response: ServerResponse, fault: Fault, api?: ApiName): void {
    const body = JSON.stringify(apiOf(api ?? "openai-chat").faultBody(fault));
    response.writeHead(fault.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(!request.complete && { connection: "close" }),
    });
    response.end(body);
    discardBody(request);
  }
}

/** The fault for an internal error: reveals a remedy, but no internals. */
function faultOf(error: unknown, upstream = "upstream"): Fault {
  if (error instanceof UpstreamError) return faultOfUpstream(error, { name: upstream });
  const isFull = isLonghaulError(error, "DISK_FULL") || isLonghaulError(error, "STORE_BUSY");
  return isFull
    ? { status: 503, kind: "unavailable", message: "The gateway cannot write to its store; see its log." }
    : { status: 500, kind: "internal", message: "The gateway failed; see its log." };
}
