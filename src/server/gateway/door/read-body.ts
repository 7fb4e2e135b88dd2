import type { IncomingMessage, ServerResponse } from "node:http";
import { ByteCollector } from "../../../model/base/byte-collector.ts";
import { canDecompress, decompress } from "../../../model/base/decompress.ts";
import type { WireFault } from "../../../wire/wire.ts";
import type { RequestSpending } from "../limits/request-spending.ts";
import type { Trace } from "../observe/trace.ts";
import type { Principal } from "./principal.ts";
import {
  type DoorRefusal,
  getHeadHeader,
  type RequestHead,
  refuseRequest,
  refuseTooLarge,
} from "./request-head.ts";
import { isSignIn, type Route } from "./route.ts";

/** An admitted request with its body. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly route: Extract<Route, { readonly api: unknown }>;
  readonly query: string;
  /** Decompressed. */
  readonly body: Buffer;
  /** The bytes as received. */
  readonly raw: Buffer;
  /** Aborts when the client disconnects or the gateway closes. */
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** The budgets that count the request. */
  readonly spending: RequestSpending | undefined;
  /** Admits the person once more by the same token; false while the store cannot be asked. */
  readonly isAdmitted: () => Promise<boolean>;
  /** Called when the request is about to be sent, so that the next one can be prepared. */
  readonly onPrepared: () => void;
  /** Counts the bytes of the messages that the log does not have yet as stored by the person, if anybody counts them. */
  readonly onStored: ((storedBytes: number) => void) | undefined;
}

class ClientGoneError extends Error {}

/** True for the reason of a signal that aborted because the client disconnected. */
export function isClientGone(reason: unknown): boolean {
  return reason instanceof ClientGoneError;
}

/**
 * Aborts when the client disconnects before its response was sent. `AbortSignal.any` would be several times as
 * expensive.
 */
export function createClientSignal(
  response: ServerResponse,
  controller = new AbortController(),
): AbortSignal {
  const { socket } = response.req;
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new ClientGoneError("The client has gone."));
  };
  if (socket.destroyed) onClose();
  socket.once("close", onClose);
  response.once("finish", () => socket.off("close", onClose));
  return controller.signal;
}

/** The result of reading a body; "gone" if the client left before its end. */
export type BodyReadResult =
  | {
      readonly type: "read";
      /** Decompressed; the same buffer as `raw` if the body was not compressed. */
      readonly body: Buffer;
      /** The bytes as received. */
      readonly raw: Buffer;
    }
  | { readonly type: "refused"; readonly fault: WireFault }
  | { readonly type: "gone" };

/** Maximum bytes of a body, compressed as well as decompressed, and maximum time until its last byte. */
interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyMs: number;
}

interface ReadBodyOptions {
  /** The encoding from admission; default "identity". */
  readonly encoding?: ContentEncoding;
  readonly signal?: AbortSignal;
  /** The response to the request; a client that expects "100 Continue" gets it here. */
  readonly response?: ServerResponse;
  /** Reserves the bytes of the body; while there is no room, the body stays with the sender. */
  readonly share?: ByteShare;
}

/** Expected ratio of decompressed to compressed size. */
const USUAL_RATIO = 20;
/** Bytes reserved for a body of unknown length. */
const FIRST_SHARE = 65_536;
/** Every chunk takes time, however small, so a body must not consist of too many tiny ones. */
const MAX_TINY_CHUNKS = 65_536;
const TINY_BYTES = 64;

/** Nobody sees this reason; an abort without one would create a DOMException with a stack. */
const BODY_OVER = new Error("The body is no longer read.");

async function unpackBody(
  request: IncomingMessage,
  encoding: Exclude<ContentEncoding, "identity">,
  limits: BodyLimits,
  options: ReadBodyOptions,
): Promise<BodyReadResult> {
  const { share, signal } = options;
  const read = await readRequestBody(request, limits, { ...options, encoding: "identity" });
  if (read.type !== "read") return read;
  const { length } = read.raw;
  await share?.raise(length + Math.min(limits.maxBodyBytes, length * USUAL_RATIO), signal);
  const unpacked = await decompress(read.raw, encoding, limits.maxBodyBytes);
  share?.settle(length + (unpacked.type === "unpacked" ? unpacked.bytes.length : 0));
  if (unpacked.type === "too-large")
    return { type: "refused", fault: refuseTooLarge(limits.maxBodyBytes).fault };
  if (unpacked.type === "unpacked") return { type: "read", body: unpacked.bytes, raw: read.raw };
  return {
    type: "refused",
    fault: refuseRequest("The body is not packed as its Content-Encoding says.").fault,
  };
}

/** Reads the body of an admitted request within its limits. Never throws. */
export function readRequestBody(
  request: IncomingMessage,
  limits: BodyLimits,
  options: ReadBodyOptions = {},
): Promise<BodyReadResult> {
  const { encoding = "identity" } = options;
  if (encoding !== "identity") return unpackBody(request, encoding, limits, options);
  const declared = Number(request.headers["content-length"] ?? 0);
  const collected = new ByteCollector(declared);
  let chunks = 0;
  let isOver = false;
  /** Ends the wait for room; undefined while nothing waits, because most bodies never do. */
  let waiting: AbortController | undefined;
  return new Promise((resolve) => {
    const settle = (read: BodyReadResult) => {
      clearTimeout(timer);
      isOver = true;
      waiting?.abort(BODY_OVER);
      options.signal?.removeEventListener("abort", leave);
      request.off("data", take).off("end", finish).off("close", leave).off("error", leave);
      collected.clear();
      if (read.type !== "read") request.pause();
      resolve(read);
    };
    const take = (chunk: Buffer) => {
      const bytes = collected.length + chunk.length;
      if (bytes > limits.maxBodyBytes)
        settle({ type: "refused", fault: refuseTooLarge(limits.maxBodyBytes).fault });
      else if (++chunks > MAX_TINY_CHUNKS && bytes < chunks * TINY_BYTES)
        settle({ type: "refused", fault: refuseTinyChunks() });
      else {
        collected.add(chunk);
        reserve(Math.min(2 * bytes, limits.maxBodyBytes), bytes);
      }
    };
    const reserve = (wanted: number, needed = wanted) => {
      const { share } = options;
      if (!share || share.bytes >= needed || waiting || share.raiseAtOnce(wanted)) return undefined;
      waiting = new AbortController();
      const granted = share.raise(wanted, waiting.signal);
      request.pause();
      return granted.then(() => {
        waiting = undefined;
        if (!isOver) request.resume();
      });
    };
    const finish = () => {
      const raw = collected.take();
      options.share?.settle(raw.length);
      settle({ type: "read", body: raw, raw });
    };
    const leave = () => settle({ type: "gone" });
    const timer = setTimeout(() => {
      settle({ type: "refused", fault: waiting ? refuseForRoom() : refuseSlowBody(limits.bodyMs) });
    }, limits.bodyMs);
    timer.unref();
    if (request.destroyed || options.signal?.aborted) return leave();
    options.signal?.addEventListener("abort", leave);
    request.on("end", finish).on("close", leave).on("error", leave);
    const begin = () => {
      if (isOver) return;
      request.on("data", take);
      if (/100-continue/i.test(request.headers.expect ?? "")) options.response?.writeContinue();
    };
    const granted = reserve(declared || FIRST_SHARE);
    if (granted) void granted.then(begin);
    else begin();
  });
}

function refuseTinyChunks(): WireFault {
  const message = `The body comes in more than ${MAX_TINY_CHUNKS} chunks of less than ${TINY_BYTES} bytes; send larger ones.`;
  return refuseRequest(message).fault;
}

function refuseForRoom(): WireFault {
  const message =
    "Other large requests are under way and take all the room that limits.maxHeldBytes gives; try again later.";
  return { status: 503, kind: "unavailable", message };
}

function refuseSlowBody(bodyMs: number): WireFault {
  return {
    status: 408,
    kind: "timeout",
    message: `The body did not arrive within ${bodyMs} ms; send it faster, or raise limits.bodyMs.`,
  };
}

/** Compression of a body. */
export type ContentEncoding = "identity" | "gzip" | "zstd" | "br" | "deflate";

const ENCODINGS: Readonly<Record<string, ContentEncoding>> = {
  "": "identity",
  identity: "identity",
  gzip: "gzip",
  "x-gzip": "gzip",
  br: "br",
  deflate: "deflate",
  ...(canDecompress("zstd") && { zstd: "zstd" as const }),
};
const JSON_TYPE = /^application\/json(?:\s*;\s*charset=(?:utf-?8|"utf-?8"))?\s*;?$/i;
/** Multipart forms carry files to providers. */
const FORM_TYPE = /^multipart\/form-data\s*;\s*boundary=(?:[\w'()+,./:=?-]{1,70}|"[\w'()+,./:=? -]{1,70}")$/i;

/** Refuses content types that the route does not accept: JSON everywhere, forms only where files pass through. */
export function checkContentType(request: RequestHead, route: Route): DoorRefusal | undefined {
  const types = request.headers.get("content-type") ?? [];
  const type = types[0] ?? "";
  if (types.length > 1) return refuseRequest("Content-Type was sent more than once.", 415);
  // Providers of identities send a form; browsers of strangers are refused by their origin.
  if (isSignIn(route) && /^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  if (JSON_TYPE.test(type) || (route.type === "pass" && FORM_TYPE.test(type))) return undefined;
  return refuseRequest("The body has to be JSON: send Content-Type: application/json, in UTF-8.", 415);
}

/** The compression of a request body, or a refusal if it is not supported. */
export function readContentEncoding(request: RequestHead): ContentEncoding | DoorRefusal {
  const sent = request.headers.get("content-encoding") ?? [];
  const name = (getHeadHeader(request, "content-encoding") ?? "").toLowerCase();
  const encoding = sent.length < 2 && Object.hasOwn(ENCODINGS, name) ? ENCODINGS[name] : undefined;
  return (
    encoding ?? refuseRequest("Content-Encoding has to be one of identity, gzip, zstd, br, deflate.", 415)
  );
}

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MS = 2_000;

/**
 * Reads and discards the rest of a refused request for a limited time, then closes the connection: a client that is cut
 * off while it is sending would see a broken connection instead of the reply. Call it after the reply has been written.
 */
export function discardBody(request: IncomingMessage, mostBytes = MAX_BYTES, mostMs = MAX_MS): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const hangUp = () => request.socket.destroy();
  const timer = setTimeout(hangUp, mostMs);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) hangUp();
  });
  request.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}

/**
 * Limits how many requests are read and prepared at a time. A single thread does this work, so more at once would not
 * finish sooner, and each would hold its body and everything derived from it. The bodies of waiting requests stay with
 * their senders.
 */
export class Semaphore {
  #free: number;
  readonly #holders = new Set<object>();
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** Waits for room. A holder takes one place, however often it asks. */
  async acquire(holder: object): Promise<void> {
    if (this.#holders.has(holder)) return;
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#holders.add(holder);
  }

  /** Releases the place of a holder to the next one. Idempotent; the holder may take a place again. */
  release(holder: object): void {
    if (!this.#holders.delete(holder)) return;
    const next = this.#waiting.shift();
    // The place passes directly to the next holder.
    if (next) next();
    else this.#free++;
  }
}

/** Bodies up to this size may use twice the limit, so that they need not wait for large ones. */
const SMALL_BYTES = 1_024 * 1_024;

interface WaitingShare {
  readonly share: ByteShare;
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Limits the total bytes held by all requests in progress. A request without a share waits, and its body stays with the
 * sender.
 */
export class HeldBytes {
  readonly limit: () => number;
  /** Bytes held at this moment. */
  heldBytes = 0;
  readonly small: WaitingShare[] = [];
  readonly large: WaitingShare[] = [];

  constructor(limit: () => number) {
    this.limit = limit;
  }
}

/** The part of the bytes that one request holds. */
export class ByteShare {
  readonly #held: HeldBytes;
  bytes = 0;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** Raises the share to `bytes` in total if there is room and nothing waits for it; false if it would have to wait. */
  raiseAtOnce(bytes: number): boolean {
    if (bytes <= this.bytes) return true;
    const { small, large } = this.#held;
    const queue = bytes <= SMALL_BYTES ? small : large;
    if (queue.length > 0 || !fits(this.#held, this, bytes)) return false;
    this.settle(bytes);
    return true;
  }

  /** Raises the share to `bytes` in total, at once or as soon as there is room. An aborted wait raises nothing. */
  async raise(bytes: number, signal?: AbortSignal): Promise<void> {
    if (this.raiseAtOnce(bytes)) return;
    const { small, large } = this.#held;
    const queue = bytes <= SMALL_BYTES ? small : large;
    await new Promise<void>((resolve) => {
      const waiting = { share: this, bytes, grant: () => end(true) };
      const end = (isGranted: boolean) => {
        signal?.removeEventListener("abort", leave);
        if (isGranted) this.settle(bytes);
        resolve();
      };
      const leave = () => {
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        end(false);
        grantWaiting(this.#held);
      };
      if (signal?.aborted) return end(false);
      signal?.addEventListener("abort", leave, { once: true });
      queue.push(waiting);
    });
  }

  /** Sets the share to the bytes that are actually held, even if there is no room; 0 releases it. */
  settle(bytes: number): void {
    const isLess = bytes < this.bytes;
    this.#held.heldBytes += bytes - this.bytes;
    this.bytes = bytes;
    const { small, large } = this.#held;
    if (isLess && small.length + large.length > 0) grantWaiting(this.#held);
  }
}

/** A share that no other competes with always fits, however large, since it would otherwise wait forever. */
function fits({ heldBytes, limit }: HeldBytes, share: ByteShare, bytes: number): boolean {
  const others = heldBytes - share.bytes;
  return others === 0 || others + bytes <= limit() * (bytes <= SMALL_BYTES ? 2 : 1);
}

function grantWaiting(held: HeldBytes): void {
  for (const queue of [held.small, held.large])
    for (let next = queue[0]; next && fits(held, next.share, next.bytes); next = queue[0]) {
      queue.shift();
      next.grant();
    }
}
