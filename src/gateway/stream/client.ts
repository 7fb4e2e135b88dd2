import type { ServerResponse } from "node:http";
import { ByteCollector } from "../body/byte-collector.ts";
import type { Listening } from "./listening.ts";

/** How long a client whose answer is cut may take to accept what it was sent before. */
const LAST_WORDS_MS = 1_000;

/** Pieces that are written as they come in one round of the event loop; those after them are joined if they are small. */
const MAX_SINGLE_PIECES = 64;
const SMALL_BYTES = 512;
const JOINED_BYTES = 16_384;

/** What happens at a client. */
export interface ClientEvents {
  /** It takes bytes again. */
  onReady(): void;
  /** It went away, or takes nothing any more. */
  onLost(how: "client-gone" | "client-stalled"): void;
  /** All of the response has been handed over. */
  onFinished(): void;
}

/** The client's side of a relay. */
export interface Client {
  /** Bytes of the body that were sent. */
  readonly bytes: number;
  /** When the first of them was. */
  readonly firstByteAt: number | undefined;
  /** True while it has not taken what it was sent. */
  readonly isFull: boolean;
  /** What is sent from now on in this round of the event loop goes out at its end, before what is put off to it later. */
  gather(): void;
  send(bytes: Uint8Array | string): void;
  /** Hands over what waits to be joined with more. */
  flush(): void;
  /** Ends the response; `onFinished` or `onLost` follows. */
  end(rawTrailers: readonly string[]): void;
  /** Breaks the response off behind what was sent, so that the client sees that it is not whole. */
  cut(): void;
}

/** Opens the client's side of a relay. Nothing is listened to any more when `listening` ends. */
export function openClient(
  response: ServerResponse,
  idleMs: number,
  listening: Listening,
  { onReady, onLost, onFinished }: ClientEvents,
): Client {
  const { socket } = response.req;
  const usualMs = socket.timeout ?? 0;
  let bytes = 0;
  let firstByteAt: number | undefined;
  let isFull = false;
  /** Pieces of this round of the event loop, and those of them that wait to be written as one. */
  let pieces = 0;
  const crumbs = new ByteCollector();

  const write = (piece: Uint8Array | string) => {
    writeTogether(response);
    if (!response.write(piece)) wait();
  };
  const flush = () => {
    if (crumbs.length > 0 && !response.writableEnded && !response.destroyed) write(crumbs.take());
    crumbs.clear();
  };
  const endRound = () => {
    pieces = 0;
    flush();
  };
  // The socket's own timer sees each byte that leaves, where events tell only of whole writes.
  const wait = () => {
    isFull = true;
    response.socket?.setTimeout(idleMs);
  };
  listening.on(response, "timeout", () => {
    if (isFull) onLost("client-stalled");
  });
  listening.on(response, "drain", () => {
    if (response.writableEnded) return;
    isFull = false;
    response.socket?.setTimeout(usualMs);
    onReady();
  });
  listening.on(response, "finish", onFinished);
  listening.on(socket, "close", () => onLost("client-gone"));
  if (response.listenerCount("error") === 0) response.on("error", () => {});
  if (response.writableNeedDrain) wait();

  return {
    get bytes() {
      return bytes;
    },
    get firstByteAt() {
      return firstByteAt;
    },
    get isFull() {
      return isFull;
    },
    gather() {
      writeTogether(response);
    },
    send(piece) {
      if (piece.length === 0) return;
      firstByteAt ??= performance.now();
      const length = Buffer.byteLength(piece);
      bytes += length;
      if (pieces++ === 0) setImmediate(endRound);
      if (pieces > MAX_SINGLE_PIECES && length <= SMALL_BYTES) {
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
      if (rawTrailers.length > 0 && response.chunkedEncoding) response.addTrailers(pairsOf(rawTrailers));
      wait();
      response.end();
    },
    cut() {
      flush();
      const timer = setTimeout(() => response.destroy(), LAST_WORDS_MS).unref();
      socket.once("close", () => clearTimeout(timer));
      if (response.socket) response.socket.destroySoon();
      else response.destroy();
    },
  };
}

/** What is written in one round of the event loop goes out at once: head, events and end are one call to the system. */
function writeTogether({ socket }: ServerResponse): void {
  if (!socket || socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] as string, raw[at + 1] as string]);
  return pairs;
}
