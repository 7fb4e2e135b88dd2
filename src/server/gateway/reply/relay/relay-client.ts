import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ByteCollector } from "../../../../model/base/byte-collector.ts";

/** How long a client may take to accept the bytes already sent after its response is cut off. */
const FINAL_BYTES_MS = 1_000;

/** Number of chunks written individually per turn of the event loop; later small chunks are joined. */
const MAX_SINGLE_PIECES = 64;
const SMALL_BYTES = 512;
const JOINED_BYTES = 16_384;
/** How long the head of a response waits for first bytes that are held back. */
const HELD_HEAD_MS = 100;

/** Events at the client's side. */
interface RelayClientEvents {
  /** The client accepts bytes again. */
  onReady(): void;
  /** The client disconnected, or no longer accepts bytes. */
  onLost(how: "client-gone" | "client-stalled"): void;
  /** The whole response has been handed to the operating system. */
  onFinished(): void;
  /** True while the first bytes are held back, so that the head waits for them. */
  isHeld(): boolean;
}

/** The client's side of a relay. */
interface RelayClient {
  /** Body bytes sent. */
  readonly bytes: number;
  /** Time of the first body byte, as from `performance.now()`. */
  readonly firstByteAt: number | undefined;
  /** True while the client has not accepted the bytes already sent. */
  readonly isFull: boolean;
  /**
   * Delays all bytes sent in this turn of the event loop to its end, ahead of any later `setImmediate` callback, and
   * sends a head without bytes then.
   */
  gather(): void;
  send(bytes: Uint8Array | string): void;
  /** Writes the bytes that wait to be joined. */
  flush(): void;
  /** Ends the response; `onFinished` or `onLost` follows. */
  end(rawTrailers: readonly string[]): void;
  /** Closes the connection after the bytes already sent, so that the client sees an incomplete response. */
  cut(): void;
}

/** Opens the client's side of a relay; it stops listening when `listening` ends. */
export function openRelayClient(
  response: ServerResponse,
  idleMs: number,
  listening: ListenerGroup,
  { onReady, onLost, onFinished, isHeld }: RelayClientEvents,
): RelayClient {
  const { socket } = response.req;
  const usualMs = socket.timeout ?? 0;
  /** True if the end of this turn of the event loop is awaited. */
  let isGathering = false;
  /** The socket whose writes of this turn are combined, so that head, events and end take one system call. */
  let corked: Socket | undefined;
  /** True once the head was sent without bytes, or waits for the first ones. */
  let isHeadTended = false;
  /** Number of chunks in this turn of the event loop, and the chunks that wait to be joined. */
  let pieces = 0;
  const crumbs = new ByteCollector();

  const gather = () => {
    if (!corked && response.socket && response.socket.writableCorked === 0) {
      corked = response.socket;
      corked.cork();
    }
    if (isGathering) return;
    isGathering = true;
    setImmediate(endTurn);
  };
  const write = (piece: Uint8Array | string) => {
    gather();
    if (!response.write(piece)) wait();
  };
  const flush = () => {
    if (crumbs.length > 0 && !response.writableEnded && !response.destroyed) write(crumbs.take());
    crumbs.clear();
  };
  const endTurn = () => {
    flush();
    isGathering = false;
    pieces = 0;
    tendHead();
    corked?.uncork();
    corked = undefined;
  };
  /** Sends a head whose body does not follow at once. */
  const tendHead = () => {
    if (isHeadTended) return;
    isHeadTended = true;
    if (!isHeld()) return flushHead();
    const timer = setTimeout(flushHead, HELD_HEAD_MS).unref();
    listening.atEnd(() => clearTimeout(timer));
  };
  const flushHead = () => {
    if (client.bytes === 0 && !response.writableEnded && !response.destroyed) response.flushHeaders();
  };
  // The socket's own timer notices every byte sent; stream events report only whole writes.
  const wait = () => {
    client.isFull = true;
    response.socket?.setTimeout(idleMs);
  };
  listening.on(response, "timeout", () => {
    if (client.isFull) onLost("client-stalled");
  });
  listening.on(response, "drain", () => {
    if (response.writableEnded) return;
    client.isFull = false;
    response.socket?.setTimeout(usualMs);
    onReady();
  });
  listening.on(response, "finish", onFinished);
  listening.on(socket, "close", () => onLost("client-gone"));
  if (response.listenerCount("error") === 0) response.on("error", () => {});

  const client: { -readonly [Field in keyof RelayClient]: RelayClient[Field] } = {
    bytes: 0,
    firstByteAt: undefined,
    isFull: false,
    gather,
    send(piece) {
      if (piece.length === 0) return;
      client.firstByteAt ??= performance.now();
      const length = Buffer.byteLength(piece);
      client.bytes += length;
      if (++pieces > MAX_SINGLE_PIECES && length <= SMALL_BYTES) {
        crumbs.add(typeof piece === "string" ? Buffer.from(piece) : piece);
        if (crumbs.length >= JOINED_BYTES) flush();
        return;
      }
      flush();
      write(piece);
    },
    flush,
    end(rawTrailers) {
      flush();
      if (rawTrailers.length > 0 && response.chunkedEncoding) response.addTrailers(toPairs(rawTrailers));
      response.end();
      // Bytes that the system has taken need no limit.
      if (!response.socket || response.socket.writableLength > 0) wait();
    },
    cut() {
      flush();
      const timer = setTimeout(() => response.destroy(), FINAL_BYTES_MS).unref();
      socket.once("close", () => clearTimeout(timer));
      if (response.socket) response.socket.destroySoon();
      else response.destroy();
    },
  };
  if (response.writableNeedDrain) wait();
  return client;
}

function toPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] as string, raw[at + 1] as string]);
  return pairs;
}

type Listener = Parameters<EventEmitter["on"]>[1];

/** A group of listeners that are removed together. */
export class ListenerGroup {
  /** Listeners in one list instead of a closure for each, because every reply has about ten. */
  readonly #emitters: EventEmitter[] = [];
  readonly #events: string[] = [];
  readonly #listeners: Listener[] = [];
  readonly #undo: (() => void)[] = [];
  #isOver = false;

  /** Adds a listener until the end. */
  on(emitter: EventEmitter, event: string, listener: Listener): void {
    if (this.#isOver) return;
    emitter.on(event, listener);
    this.#emitters.push(emitter);
    this.#events.push(event);
    this.#listeners.push(listener);
  }

  /** Adds an abort listener until the end. */
  onAbort(signal: AbortSignal, listener: () => void): void {
    if (this.#isOver) return;
    signal.addEventListener("abort", listener, { once: true });
    this.#undo.push(() => signal.removeEventListener("abort", listener));
  }

  /** Runs `work` at the end. */
  atEnd(work: () => void): void {
    this.#undo.push(work);
  }

  /** Removes all listeners. Idempotent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (let at = 0; at < this.#emitters.length; at++)
      this.#emitters[at]?.off(this.#events[at] as string, this.#listeners[at] as Listener);
    for (const undo of this.#undo) undo();
  }
}
