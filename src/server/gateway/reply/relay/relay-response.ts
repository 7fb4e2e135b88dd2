import type { ServerResponse } from "node:http";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { findRawHeader, getForwardedHeaders, type RawHeaders } from "../../upstream/upstream-headers.ts";
import { ListenerGroup, openRelayClient } from "./relay-client.ts";
import { type BodyDecoder, openBodyDecoder, openRelaySource, ReplyGate } from "./relay-source.ts";
import { type SseEvent, SseSplitter } from "./sse-splitter.ts";

/** How a relay ended. */
type RelayOutcome =
  | "complete"
  /** The upstream's connection closed before its response was complete. */
  | "upstream-cut"
  | "upstream-idle"
  | "client-gone"
  /** The client accepted no bytes for too long. */
  | "client-stalled"
  /** The gateway's own signal stopped the relay. */
  | "stopped";

/** The response to relay, and hooks into the relay. */
export interface RelayOptions {
  readonly answer: UpstreamResponse;
  readonly response: ServerResponse;
  /** Headers to send; by default those of the response without hop-by-hop headers. */
  readonly rawHeaders?: RawHeaders | undefined;
  /**
   * Returns the bytes to send for an event of a stream; undefined omits the event. Comments pass unchanged. A response
   * that is not an event stream, or has an unknown encoding, is relayed unchanged, as is everything without this
   * option.
   */
  readonly transform?: ((event: SseEvent) => Uint8Array | string | undefined) | undefined;
  /** Receives the relayed bytes without their content encoding; must not modify them. */
  readonly tap?: ((bytes: Buffer) => void) | undefined;
  /** Returns bytes to send before the client's connection is closed because the upstream failed. */
  readonly finalBytes?: ((failure: UpstreamError) => Uint8Array | string | undefined) | undefined;
  /** Returns a promise while the end of the response must not be sent yet, because its content is being stored. */
  readonly hold?: (() => Promise<void> | undefined) | undefined;
  /** Sends the last bytes only after `keepsOpen` was called, for a body that is stored as a whole. */
  readonly keepsLast?: boolean | undefined;
  /** Called after the whole response: true keeps the client's response open for another relay, which sends no head. */
  readonly keepsOpen?: (() => boolean) | undefined;
  /** Called when the upstream's response broke off: true keeps the client's response open, for the caller to end it. */
  readonly keepsOpenAfterFailure?: ((failure: UpstreamError) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How much longer `tap` or `transform` get the response when the client has left, to see its usage. */
  readonly readOn?: { readonly ms: number; readonly bytes: number } | undefined;
  /** Maximum silence of the upstream, and maximum time without the client accepting bytes. */
  readonly idleMs: number;
  /** Start of `firstByteMs`, as from `performance.now()`; default: the time of the call. */
  readonly startedAt?: number | undefined;
}

/** The result of a relay. */
export interface RelayResult {
  readonly ending: RelayOutcome;
  /** Body bytes sent. */
  readonly bytes: number;
  readonly firstByteMs: number | undefined;
  /** Why the upstream's response is incomplete. */
  readonly failure: UpstreamError | undefined;
  /** Why the tap stopped early; the client was not affected. */
  readonly tapFailure: unknown;
  /** Set if the client has left and the response is read on; resolves when that is over. */
  readonly rest?: Promise<void>;
}

/**
 * Relays a response to the client as it arrives, no faster than the client accepts it. When the promise resolves, no
 * listeners remain on either side, and an unfinished response of the upstream has been destroyed, both after `rest` if
 * there is one. Throws only the errors of `transform`.
 */
export async function relayResponse(options: RelayOptions): Promise<RelayResult> {
  const { answer, response, tap: take, signal, idleMs, startedAt = performance.now() } = options;
  const { body } = answer;
  const { transform, decoding } = openTransform(options, (error) => source.fail(error));
  const listening = new ListenerGroup();
  const receiving = new ListenerGroup();
  const over = Promise.withResolvers<RelayOutcome>();
  let failure: UpstreamError | undefined;
  let broken: RelayOutcome | undefined;
  let isTapFull = false;
  let rest: RestOfResponse | undefined;

  const lose = (ending: RelayOutcome) => {
    const isLeft = ending === "client-gone" || ending === "client-stalled";
    if (isLeft && options.readOn && !broken && !body.readableEnded && !body.destroyed)
      rest ??= openRest(options.readOn);
    else if (!rest) body.destroy();
    response.destroy();
    over.resolve(broken ?? ending);
    if (rest) source.resume();
  };
  const resume = () => {
    if (rest ? !isTapFull : !client.isFull && !isTapFull && !gate.isFull) source.resume();
  };
  const client = openRelayClient(response, idleMs, listening, {
    onReady: resume,
    onLost: lose,
    onFinished: () => over.resolve("complete"),
    isHeld: () => gate.isWaiting,
  });
  const gate = new ReplyGate({
    send: (bytes) => {
      if (!response.destroyed) client.send(bytes);
    },
    hold: () => options.hold?.(),
    keepsLast: options.keepsLast ?? false,
    onOpen: resume,
  });
  const tap =
    take &&
    openTap(decoding ? [] : answer.rawHeaders, take, () => {
      isTapFull = false;
      resume();
    });
  const writer = transform && openEventWriter(transform, (bytes) => void (rest || gate.send(bytes)));
  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      over.reject(error);
      lose("stopped");
    }
  };
  const source = openRelaySource(body, decoding, idleMs, receiving, {
    onBytes: (bytes) =>
      guarded(() => {
        if (!rest) client.gather();
        if (tap?.push(bytes) === false) isTapFull = true;
        const unfit = writer ? writer.push(bytes) : void (rest || gate.send(bytes));
        if (unfit) source.fail(unfit);
        if (rest?.take(bytes.length)) return;
        if (isTapFull || (!rest && (client.isFull || gate.isFull))) source.pause();
      }),
    onEnd: (why) =>
      guarded(() => {
        if (rest) {
          writer?.end();
          return void (tap?.end() ?? Promise.resolve()).then(rest.end);
        }
        failure = why ?? writer?.end();
        if (failure) breakOff(failure);
        // `continues` must be called after the tap has seen all bytes.
        else if (tap?.isLate) void tap.end().then(() => guarded(finish));
        else finish();
      }),
  });
  const finish = () => {
    const isKeptOpen = options.keepsOpen?.();
    gate.finish(() => {
      if (response.destroyed) return;
      client.flush();
      if (isKeptOpen) over.resolve("complete");
      else client.end(body.rawTrailers);
    });
  };
  const breakOff = (why: UpstreamError) => {
    if (why.reason === "aborted") return lose(goneOrStopped());
    gate.release();
    client.flush();
    if (options.keepsOpenAfterFailure?.(why)) return over.resolve("complete");
    broken = why.reason === "idle" ? "upstream-idle" : "upstream-cut";
    const words = options.finalBytes?.(why);
    if (words !== undefined) client.send(words);
    client.cut();
  };
  const free = () => {
    receiving.end();
    decoding?.destroy();
    if (!body.readableEnded) body.destroy();
  };
  const goneOrStopped = () => (response.req.socket.destroyed ? "client-gone" : "stopped");

  if (options.readOn) answer.detach();
  try {
    if (signal?.aborted || response.req.socket.destroyed) lose(goneOrStopped());
    else {
      if (client.isFull) source.pause();
      if (signal) listening.onAbort(signal, () => lose(goneOrStopped()));
      writeHead(options, transform !== undefined);
      // A head whose body follows at once is sent together with it.
      client.gather();
    }
    const ending = await over.promise;
    const { bytes, firstByteAt } = client;
    listening.end();
    if (tap && !rest) await tap.end();
    const firstByteMs = firstByteAt === undefined ? undefined : firstByteAt - startedAt;
    const result = { ending, bytes, firstByteMs, failure, tapFailure: tap?.failure };
    return rest ? { ...result, rest: rest.over.then(free) } : result;
  } finally {
    listening.end();
    if (!rest) free();
  }
}

/** The response of a client that has left, as far as it is still read. */
interface RestOfResponse {
  readonly over: Promise<void>;
  /** Counts bytes; true when there are enough of them. */
  take(bytes: number): boolean;
  readonly end: () => void;
}

function openRest({ ms, bytes }: NonNullable<RelayOptions["readOn"]>): RestOfResponse {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  let left = bytes;
  const end = () => {
    clearTimeout(timer);
    over.resolve();
  };
  return {
    over: over.promise,
    end,
    take(count) {
      left -= count;
      if (left < 0) end();
      return left < 0;
    },
  };
}

/** The transform of a response and its decoding, if the response has readable events. */
function openTransform(
  { answer: { rawHeaders }, transform }: RelayOptions,
  onFailure: (error: UpstreamError) => void,
): { readonly transform?: NonNullable<RelayOptions["transform"]>; readonly decoding?: BodyDecoder } {
  if (!transform || !/^\s*text\/event-stream\b/i.test(findRawHeader(rawHeaders, "content-type") ?? ""))
    return {};
  try {
    const decoding = openBodyDecoder(rawHeaders, onFailure);
    return decoding ? { transform, decoding } : { transform };
  } catch {
    return {};
  }
}

function writeHead({ answer, response, rawHeaders }: RelayOptions, isChanged: boolean): void {
  if (response.headersSent) return;
  const sent = getForwardedHeaders(rawHeaders ?? answer.rawHeaders, isChanged ? BYTE_HEADERS : undefined);
  response.sendDate = false;
  response.writeHead(answer.status, answer.statusMessage, sent);
}

/** Headers that are valid only for the exact bytes received. */
const BYTE_HEADERS: ReadonlySet<string> = new Set([
  "content-length",
  "content-encoding",
  "content-md5",
  "digest",
]);

/** Transforms and sends the events of a stream. */
interface EventWriter {
  /** Returns an error if the bytes do not form a stream of events within the size limit. */
  push(bytes: Buffer): UpstreamError | undefined;
  /** Sends the remaining bytes at the end of a stream. */
  end(): UpstreamError | undefined;
}

/** Opens a writer; errors of `transform` are rethrown. */
function openEventWriter(
  transform: (event: SseEvent) => Uint8Array | string | undefined,
  send: (bytes: Uint8Array) => void,
): EventWriter {
  const splitter = new SseSplitter();
  const write = (events: readonly SseEvent[]) => {
    const pieces: Uint8Array[] = [];
    for (const event of events) {
      const isSaid = event.hasData || event.event !== undefined;
      const changed = isSaid ? transform(event) : event.raw;
      if (changed !== undefined) pieces.push(typeof changed === "string" ? Buffer.from(changed) : changed);
    }
    const [first] = pieces;
    if (first) send(pieces.length === 1 ? first : Buffer.concat(pieces));
  };
  return {
    push(bytes) {
      const events = catchUpstreamError(() => splitter.push(bytes));
      if (events instanceof UpstreamError) return events;
      write(events);
      return undefined;
    },
    end() {
      const rest = catchUpstreamError(() => splitter.end());
      if (rest instanceof UpstreamError) return rest;
      if (rest.event) write([rest.event]);
      return undefined;
    },
  };
}

function catchUpstreamError<Result>(work: () => Result): Result | UpstreamError {
  try {
    return work();
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}

/** Passes the decoded bytes of a response to an observer. A failure ends the tap, never the relay. */
interface Tap {
  /** Returns false if no more bytes can be taken before `onReady`. */
  push(chunk: Buffer): boolean;
  /** True if bytes are passed on with a delay, because they must be decoded first. */
  readonly isLate: boolean;
  /** Resolves when all pushed bytes have been passed on. */
  end(): Promise<void>;
  /** Why the tap ended early. */
  readonly failure: unknown;
}

/** Opens a tap on a response. */
function openTap(rawHeaders: RawHeaders, take: (bytes: Buffer) => void, onReady: () => void): Tap {
  let failure: unknown;
  let decoding: BodyDecoder | undefined;
  const ended = Promise.withResolvers<void>();
  const fail = (error: unknown) => {
    failure ??= error;
    decoding?.destroy();
    ended.resolve();
    onReady();
  };
  const give = (bytes: Buffer) => {
    if (failure !== undefined) return;
    try {
      take(bytes);
    } catch (error) {
      fail(error);
    }
  };
  try {
    decoding = openBodyDecoder(rawHeaders, fail);
  } catch (error) {
    failure = error;
  }
  decoding?.output.on("data", give);
  decoding?.output.once("close", () => ended.resolve());
  decoding?.input.on("drain", onReady);

  return {
    get isLate() {
      return decoding !== undefined && failure === undefined;
    },
    push(chunk) {
      if (failure !== undefined) return true;
      if (decoding) return decoding.input.write(chunk);
      give(chunk);
      return true;
    },
    async end() {
      if (!decoding || failure !== undefined) return;
      decoding.input.end();
      await ended.promise;
    },
    get failure() {
      return failure;
    },
  };
}
