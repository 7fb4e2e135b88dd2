import type { IncomingMessage } from "node:http";
import type { Readable, Writable } from "node:stream";
import { type DecodingStream, openDecoder, parseCodings } from "../../upstream/send-upstream.ts";
import { toCutError, UpstreamError } from "../../upstream/upstream-error.ts";
import { findRawHeader, type RawHeaders } from "../../upstream/upstream-headers.ts";
import type { ListenerGroup } from "./relay-client.ts";

/** Events at the upstream's side. */
interface RelaySourceEvents {
  onBytes(bytes: Buffer): void;
  /** No more bytes follow; `failure` is undefined if the response is complete. */
  onEnd(failure: UpstreamError | undefined): void;
}

/** The upstream's side of a relay. */
interface RelaySource {
  /** Stops reading; the idle timeout does not run until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the source because of its content; later bytes are dropped. */
  fail(failure: UpstreamError): void;
}

/**
 * Opens the upstream's side of a relay, decoded if there is a decoding. It reports no more events when `listening`
 * ends.
 */
export function openRelaySource(
  body: IncomingMessage,
  decoding: BodyDecoder | undefined,
  idleMs: number,
  listening: ListenerGroup,
  { onBytes, onEnd }: RelaySourceEvents,
): RelaySource {
  const output = decoding?.output ?? body;
  let isPaused = false;
  /** True when the upstream sends no more bytes, though some may still have to be decoded. */
  let isOver = false;
  let hasEnded = false;
  let failure: UpstreamError | undefined;

  const end = () => {
    if (!hasEnded) onEnd(failure);
    hasEnded = true;
  };
  const stop = (error: UpstreamError | undefined) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    clearTimeout(idle);
    // Bytes that arrived before the connection was cut, but were not read yet.
    const rest: Buffer | null = body.errored && body.read();
    if (error) body.destroy();
    if (rest && !decoding) onBytes(rest);
    if (decoding) decoding.input.end(rest ?? undefined);
    else end();
  };
  const idle = setTimeout(() => {
    if (isPaused) idle.refresh();
    else
      stop(new UpstreamError("idle", `The upstream fell silent for ${idleMs / 1_000} s within its answer.`));
  }, idleMs).unref();
  listening.atEnd(() => clearTimeout(idle));

  const isRead = body.readableEnded;
  if (isRead || body.destroyed) queueMicrotask(() => stop(isRead ? undefined : toCutError(body.errored)));
  listening.on(body, "end", () => stop(body.complete ? undefined : toCutError(undefined)));
  listening.on(body, "error", (error: Error) => stop(toCutError(error)));
  listening.on(body, "close", () => {
    if (!isOver) stop(toCutError(body.errored));
  });
  if (decoding) {
    listening.on(output, "end", end);
    listening.on(body, "data", () => idle.refresh());
    body.pipe(decoding.input, { end: false });
  }
  listening.on(output, "data", (bytes: Buffer) => {
    if (!decoding) idle.refresh();
    if (!hasEnded) onBytes(bytes);
  });

  return {
    pause() {
      isPaused = true;
      output.pause();
    },
    resume() {
      isPaused = false;
      if (!isOver) idle.refresh();
      output.resume();
    },
    fail(error) {
      stop(error);
      failure = error;
      end();
    },
  };
}

/** A chain of streams that undo the content codings of a body. */
export interface BodyDecoder {
  /** Takes the bytes as received. */
  readonly input: Writable;
  /** Yields the decoded bytes. */
  readonly output: Readable;
  destroy(): void;
}

/** Opens the decoding of a response; undefined if it has no coding. Throws `UpstreamError` for an unknown coding. */
export function openBodyDecoder(
  rawHeaders: RawHeaders,
  onFailure: (error: UpstreamError) => void,
): BodyDecoder | undefined {
  const streams: DecodingStream[] = [];
  for (const coding of parseCodings(findRawHeader(rawHeaders, "content-encoding")).toReversed()) {
    const stream = openDecoder(coding);
    if (!stream) {
      for (const opened of streams) opened.destroy();
      throw new UpstreamError("malformed", `The upstream's answer has an unknown encoding: ${coding}.`);
    }
    stream.on("error", (error) => {
      onFailure(
        new UpstreamError("malformed", `The upstream's answer is not in ${coding}, as it says.`, error),
      );
    });
    streams.at(-1)?.pipe(stream);
    streams.push(stream);
  }
  const [input] = streams;
  const output = streams.at(-1);
  if (!input || !output) return undefined;
  return {
    input,
    output,
    destroy() {
      for (const stream of streams) stream.destroy();
    },
  };
}

/** Settings of a gate. */
interface ReplyGateOptions {
  readonly send: (bytes: Uint8Array | string) => void;
  /** Returns a promise while the reply is being stored. */
  readonly hold: () => Promise<void> | undefined;
  /** Keeps the last bytes until the end, for a body that is stored when it has been received. */
  readonly keepsLast: boolean;
  /** Called when the gate has opened again. */
  readonly onOpen: () => void;
}

const MAX_HELD_BYTES = 65_536;

/** Sends bytes to a client in order, and holds them back while the reply that they end is being stored. */
export class ReplyGate {
  readonly #options: ReplyGateOptions;
  #held: (Uint8Array | string)[] = [];
  #heldBytes = 0;
  #next: (() => void) | undefined;
  /** True while the reply is being stored. */
  isWaiting = false;

  constructor(options: ReplyGateOptions) {
    this.#options = options;
  }

  /** True while so many bytes are held back that no more should be read. */
  get isFull(): boolean {
    return this.isWaiting && this.#heldBytes > MAX_HELD_BYTES;
  }

  send(bytes: Uint8Array | string): void {
    const { send, hold, keepsLast } = this.#options;
    if (this.#held.length === 0 && !this.isWaiting && !keepsLast && !hold()) send(bytes);
    else {
      this.#held.push(bytes);
      this.#heldBytes += Buffer.byteLength(bytes);
      if (!this.isWaiting) this.#pass();
    }
  }

  /** Calls `next` when all bytes have been sent. */
  finish(next: () => void): void {
    this.#next = next;
    if (!this.isWaiting) this.#pass();
  }

  /** Sends all bytes at once, because the reply is not complete. */
  release(): void {
    this.#sendHeld(0);
  }

  #pass(): void {
    const { hold, keepsLast, onOpen } = this.#options;
    const storing = hold();
    if (storing) {
      if (this.isWaiting) return;
      this.isWaiting = true;
      void storing.then(() => {
        this.isWaiting = false;
        this.#pass();
        if (!this.isWaiting) onOpen();
      });
      return;
    }
    this.#sendHeld(keepsLast && !this.#next ? 1 : 0);
    const next = this.#next;
    this.#next = undefined;
    next?.();
  }

  #sendHeld(kept: number): void {
    while (this.#held.length > kept) {
      const bytes = this.#held.shift() as Uint8Array | string;
      this.#heldBytes -= Buffer.byteLength(bytes);
      this.#options.send(bytes);
    }
  }
}
