import {
  type ClientRequest,
  type IncomingMessage,
  type InformationEvent,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { AgentPair, ConnectionAgents } from "./connection-agents.ts";
import type { RawHeaders } from "./raw-headers.ts";
import { toUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamUrl } from "./upstream-url.ts";

/** Maximum size of a response head. */
const MAX_HEAD_BYTES = 64 * 1_024;

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly agents: ConnectionAgents;
  readonly url: UpstreamUrl;
  readonly method: string;
  readonly rawHeaders: RawHeaders;
  /** The body, in pieces. */
  readonly body: readonly Uint8Array[];
  /** Closes the connection at once, even after the response has begun. */
  readonly signal?: AbortSignal | undefined;
  readonly limits: { readonly connectMs: number; readonly firstByteMs: number };
  /** Called for informational responses, such as "103 Early Hints". */
  readonly onInformation?: ((information: InformationEvent) => void) | undefined;
}

/** A response whose body has yet to be read; the owner must read it to the end or destroy it. */
export interface UpstreamResponse {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: RawHeaders;
  readonly body: IncomingMessage;
  /** Leaves it to the owner of the body to end it when the signal aborts. */
  detach(): void;
}

/**
 * Sends a request and waits for the head of the response, whatever its status; redirects are not followed. If a kept
 * connection was closed before the first byte of the response, the request is repeated once on a new connection. Throws
 * only `UpstreamError`.
 */
export function sendUpstream(request: UpstreamRequest): Promise<UpstreamResponse> {
  return attemptRequest(request, request.agents.kept, () => attemptRequest(request, request.agents.fresh));
}

/** Sends a request once; `retry` replaces a try that failed because the kept connection had been closed. */
function attemptRequest(
  sending: UpstreamRequest,
  agents: AgentPair,
  retry?: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { url, body, signal, limits } = sending;
  if (signal?.aborted) return Promise.reject(createAbortError(signal, url));
  let request: ClientRequest;
  try {
    request = openRequest(sending, agents);
  } catch (error) {
    return Promise.reject(toUpstreamError(error, url.host));
  }
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();

  let answer: IncomingMessage | undefined;
  let failure: UpstreamError | undefined;
  let connection: Socket | undefined;
  let readBefore = 0;
  const fail = (error: UpstreamError) => {
    failure ??= error;
    if (answer) answer.destroy(error);
    else request.destroy(error);
  };
  const late = setTimeout(() => {
    const seconds = limits.firstByteMs / 1_000;
    fail(new UpstreamError("timeout", `${url.host} did not begin to answer within ${seconds} s.`));
  }, limits.firstByteMs).unref();
  const onAbort = () => fail(createAbortError(signal, url));
  signal?.addEventListener("abort", onAbort, { once: true });

  request.on("socket", (socket) => {
    connection = socket;
    readBefore = socket.bytesRead;
    if (socket.connecting) limitConnecting(socket, request, url, limits.connectMs, fail);
  });
  if (sending.onInformation) request.on("information", sending.onInformation);
  request.on("response", (response) => {
    clearTimeout(late);
    answer = response;
    // The reader of the body listens too; without this listener, an error before that would crash the process.
    response.on("error", ignore);
    const { statusCode: status = 0, statusMessage = "", rawHeaders } = response;
    const detach = () => signal?.removeEventListener("abort", onAbort);
    resolve({ status, statusMessage, rawHeaders, body: response, detach });
  });
  request.on("error", (error) => {
    const hasByte = connection !== undefined && connection.bytesRead > readBefore;
    const isStale = !failure && !answer && request.reusedSocket && !hasByte && isEnded(error);
    if (isStale && retry) resolve(retry());
    else reject(failure ?? toUpstreamError(error, url.host));
  });
  request.on("close", () => {
    clearTimeout(late);
    signal?.removeEventListener("abort", onAbort);
    if (answer) return;
    reject(failure ?? new UpstreamError("reset", `${url.host} closed the connection without an answer.`));
  });

  // Writes all pieces together.
  request.cork();
  for (const piece of body) request.write(piece);
  request.end();
  request.uncork();
  return promise;
}

function openRequest({ url, method, rawHeaders }: UpstreamRequest, agents: AgentPair): ClientRequest {
  const isSecure = url.protocol === "https:";
  return (isSecure ? requestHttps : requestHttp)({
    agent: isSecure ? agents.https : agents.http,
    hostname: url.hostname,
    port: url.port,
    path: url.path,
    method,
    headers: rawHeaders as string[],
    maxHeaderSize: MAX_HEAD_BYTES,
    setDefaultHeaders: false,
  });
}

/** Fails the request if the connection is not established in time. */
function limitConnecting(
  socket: Socket,
  request: ClientRequest,
  { protocol, host }: UpstreamUrl,
  connectMs: number,
  fail: (error: UpstreamError) => void,
): void {
  const timer = setTimeout(() => {
    fail(new UpstreamError("connect", `${host} was not reached within ${connectMs / 1_000} s.`));
  }, connectMs).unref();
  const stop = () => clearTimeout(timer);
  socket.once(protocol === "https:" ? "secureConnect" : "connect", stop);
  request.once("close", stop);
}

function ignore(): void {}

function createAbortError(signal: AbortSignal | undefined, { host }: UpstreamUrl): UpstreamError {
  return new UpstreamError("aborted", `The request to ${host} was aborted.`, signal?.reason);
}

function isEnded(error: Error & { readonly code?: string }): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE";
}
