import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type InformationEvent,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps, type AgentOptions as TlsOptions } from "node:https";
import type { Socket } from "node:net";
import zlib from "node:zlib";
import { LonghaulError } from "../../../kernel/index.ts";
import { ByteCollector } from "../../../model/base/byte-collector.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { decompress } from "../../../model/base/decompress.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toCutError, toUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { RawHeaders } from "./upstream-headers.ts";

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
export function sendUpstream(sending: UpstreamRequest, isAgain = false): Promise<UpstreamResponse> {
  const { url, body, signal, limits } = sending;
  const agents = isAgain ? sending.agents.fresh : sending.agents.kept;
  if (signal?.aborted) return Promise.reject(createAbortError(signal, url));
  let request: ClientRequest;
  try {
    const isSecure = url.protocol === "https:";
    request = (isSecure ? requestHttps : requestHttp)({
      agent: isSecure ? agents.https : agents.http,
      hostname: url.hostname,
      port: url.port,
      path: url.path,
      method: sending.method,
      headers: sending.rawHeaders as string[],
      maxHeaderSize: MAX_HEAD_BYTES,
      setDefaultHeaders: false,
    });
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
    if (isStale && !isAgain) resolve(sendUpstream(sending, true));
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

/** The connections of a gateway to its upstreams. */
export interface ConnectionAgents {
  /** Reuse connections for later requests. */
  readonly kept: AgentPair;
  /** Open a new connection for each request. */
  readonly fresh: AgentPair;
}

/** One agent per protocol. */
interface AgentPair {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Limits on connections. */
export interface AgentsOptions {
  /** Maximum number of connections per host, default 1,024; further requests wait. */
  readonly maxSockets?: number;
  /** Maximum number of idle connections kept per host, default 64. */
  readonly maxFreeSockets?: number;
  /** How long an idle connection is kept, default one minute. */
  readonly keepAliveMs?: number;
  /** Trusted certificates in PEM, replacing the default ones. */
  readonly certificates?: string;
}

/** Creates the agents of one gateway; `closeAgents` closes them. */
export function createAgents({
  maxSockets = 1_024,
  maxFreeSockets = 64,
  keepAliveMs = 60_000,
  certificates,
}: AgentsOptions = {}): ConnectionAgents {
  // Node's default of 250 ms per address of a host is too short for slow networks.
  const plain: AgentOptions = { maxSockets, autoSelectFamilyAttemptTimeout: 2_000 };
  const secure: TlsOptions = { ...plain, rejectUnauthorized: true, ...dropUndefined({ ca: certificates }) };
  const kept: AgentOptions = { keepAlive: true, maxFreeSockets, timeout: keepAliveMs };
  return {
    kept: { http: new HttpAgent({ ...plain, ...kept }), https: new HttpsAgent({ ...secure, ...kept }) },
    fresh: { http: new HttpAgent(plain), https: new HttpsAgent(secure) },
  };
}

/** Closes all connections at once, including those in use. */
export function closeAgents({ kept, fresh }: ConnectionAgents): void {
  for (const { http, https } of [kept, fresh]) {
    http.destroy();
    https.destroy();
  }
}

/** Status codes with which servers refuse a compression that they do not know, by that reason or as broken JSON. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 415, 422]);

/** Learns which upstreams accept compressed bodies. */
export class PackedBodies {
  /** One entry for each upstream of the configuration that has received a compressed body. */
  readonly #accepts = new Map<string, boolean>();

  /** True unless the upstream is known to refuse compressed bodies. */
  mayAccept(upstream: string): boolean {
    return this.#accepts.get(upstream) ?? true;
  }

  /** Records the reply to a compressed body; true if the body must be sent again without compression. */
  mustUnpack(upstream: string, status: number): boolean {
    if (status < 300) this.#accepts.set(upstream, true);
    return !this.#accepts.has(upstream) && REFUSAL_STATUSES.has(status);
  }

  /** Records the reply to a body that was refused while it was compressed. */
  recordUnpacked(upstream: string, status: number): void {
    if (status < 300) this.#accepts.set(upstream, false);
  }
}

/** The address of a request; path and query are sent exactly as given. */
export interface UpstreamUrl {
  readonly protocol: "http:" | "https:";
  readonly hostname: string;
  readonly port: number;
  /** Value of the Host header. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/**
 * The address of `path` at an upstream. The version is the one in the base URL if it has one, none for ChatGPT's
 * back-end, else "/v1"; the client's path may or may not begin with "/v1". `query` is kept byte for byte. Throws ARGUMENT_INVALID for an unsafe path or
 * query or an invalid base URL.
 */
export function buildUpstreamUrl(
  { baseUrl }: { readonly baseUrl: string },
  path: string,
  query = "",
): UpstreamUrl {
  if (!isSafePath(path)) throw createArgumentError("path", path);
  if (query !== "" && !QUERY.test(query)) throw createArgumentError("query", query);
  let base = parsedBases.get(baseUrl);
  if (!base) {
    base = parseBase(baseUrl);
    parsedBases.set(baseUrl, base);
  }
  const { protocol, hostname, port, host, path: start } = base;
  // Google's paths have several versions, each with its own endpoints; paths of Azure and Bedrock have no version.
  if (WHOLE_PATH.test(path)) {
    const root = start.replace(/\/v1[^/]*$/, "").replace(/\/openai$/, "");
    return { protocol, hostname, port, host, path: `${root}${path}${query}` };
  }
  return { protocol, hostname, port, host, path: `${start}${path.replace(/^\/v1(?=\/|$)/, "")}${query}` };
}

const WHOLE_PATH =
  /^(?:\/upload)?\/v1(?:(?:alpha|beta\d?)\/|\/(?:projects|publishers)\/)|^\/(?:openai|model)\//;

/** A configuration has few upstreams, and each request names one of them. */
const MAX_PARSED = 100;
const parsedBases = new BoundedMap<string, UpstreamUrl>({ max: MAX_PARSED });

/** Hosts of Azure that serve OpenAI's API below /openai. */
const AZURE_OPENAI = /\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/;

/** The address of an upstream; its path ends with the version. */
function parseBase(baseUrl: string): UpstreamUrl {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base?.protocol !== "http:" && base?.protocol !== "https:")
    throw createArgumentError("baseUrl", baseUrl);
  const start = base.pathname.replace(/\/+$/, "") || (AZURE_OPENAI.test(base.hostname) ? "/openai" : "");
  const version = /\/v\d\w*(?:\/|$)|\/backend-api(?:\/|$)/.test(start) ? "" : "/v1";
  return {
    protocol: base.protocol,
    hostname: base.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(base.port) || (base.protocol === "https:" ? 443 : 80),
    host: base.host,
    path: `${start}${version}`,
  };
}

function createArgumentError(option: string, value: string): LonghaulError {
  const shown = JSON.stringify(value.slice(0, 80));
  return new LonghaulError("ARGUMENT_INVALID", `${option} is ${shown}; it cannot be sent to an upstream.`, {
    details: { option },
  });
}

/** True if the path stays below its root in any way an upstream may decode it. */
export function isSafePath(path: string): boolean {
  if (!/^\/(?!\/)[!-~]*$/.test(path) || /[?#\\]/.test(path)) return false;
  if (!/[.%]/.test(path)) return true;
  const decoded = path.replace(/%(2e|2f|5c)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return !/%(?:[01]|7f)/i.test(path) && !decoded.split(/[/\\]/).some((part) => part === "." || part === "..");
}

/** A query as written in a request target. */
const QUERY = /^\?[!-"$-~\x80-\xff]*$/;

/** A complete body. */
interface UpstreamBody {
  /** The bytes as received. */
  readonly raw: Buffer;
  /**
   * The body without its content encoding; undefined if that is unknown or invalid, or if the result exceeds the limit.
   */
  readonly decoded: Buffer | undefined;
}

interface ReadBodyLimits {
  /** Maximum time between two chunks. */
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a body to its end. Throws `UpstreamError` if the body is cut, stalls or exceeds `maxBytes`. */
export async function readUpstreamBody(
  body: IncomingMessage,
  maxBytes: number,
  { idleMs, signal }: ReadBodyLimits = {},
): Promise<UpstreamBody> {
  const collected = new ByteCollector(Number(body.headers["content-length"] ?? 0));
  const end = (error: UpstreamError) => body.destroy(error);
  const onAbort = () => end(new UpstreamError("aborted", "Reading an answer was aborted.", signal?.reason));
  const idle =
    idleMs === undefined
      ? undefined
      : setTimeout(() => {
          end(
            new UpstreamError("idle", `The upstream fell silent for ${idleMs / 1_000} s within its answer.`),
          );
        }, idleMs).unref();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      idle?.refresh();
      if (collected.length + chunk.length > maxBytes)
        throw new UpstreamError("too-large", `The upstream's answer is larger than ${maxBytes} bytes.`);
      collected.add(chunk);
    }
  } catch (error) {
    body.destroy();
    throw toCutError(error);
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener("abort", onAbort);
  }
  if (!body.complete) throw toCutError(undefined);
  const raw = collected.take();
  const coding = body.headers["content-encoding"];
  return { raw, decoded: coding === undefined ? raw : await decompressBody(raw, coding, maxBytes) };
}

/** The content codings of a body, in order of application, without "identity". */
export function parseCodings(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ""))
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** The decoded bytes; undefined if a coding is unknown or invalid, or if the result exceeds `maxBytes`. */
async function decompressBody(
  bytes: Buffer,
  contentEncoding: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let decoded = bytes;
  for (const coding of parseCodings(contentEncoding).toReversed()) {
    const unpacked = await decompress(decoded, coding, maxBytes);
    if (unpacked.type !== "unpacked") return undefined;
    decoded = unpacked.bytes;
  }
  return decoded;
}

/** A stream that undoes one coding; undefined if the coding is unknown. */
export function openDecoder(coding: string): DecodingStream | undefined {
  // A truncated body is decoded as far as possible.
  if (coding === "gzip") return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "deflate") return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (coding === "zstd") return zlib.createZstdDecompress?.({ finishFlush: zlib.constants.ZSTD_e_flush });
  return undefined;
}

/** A decompression stream. */
export type DecodingStream = zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
