import type { IncomingMessage } from "node:http";
import type { ProviderFailure } from "../../../window-entry.ts";
import { toText } from "../../../wire/fields.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import { readFailureReply } from "../../../wire/replies/read-failure.ts";
import type { ReplyReader, Wire } from "../../../wire/wire.ts";
import type { SseEvent } from "./sse-event.ts";
import { SseSplitter } from "./sse-splitter.ts";

/** A longer beginning is not an error. */
const MAX_BYTES = 64 * 1_024;
/** Maximum delay of the response head if the first event is late. */
const MAX_DELAY_MS = 1_000;
/** Events that a provider sends before it has checked the request. */
const PRELIMINARY_EVENTS: readonly string[] = [
  "ping",
  "response.created",
  "response.queued",
  "response.in_progress",
];

/** Words without which the beginning of a stream reports no error; the last begins an escaped character. */
const FAILURE_WORDS: readonly string[] = ["error", "failed", "\\u"];

/**
 * The error at the beginning of an event stream, before any content; undefined if there is none. Some providers send
 * status 200 and then refuse; if `isLong`, waits past events without content. The bytes read stay available. Returns no
 * promise if enough bytes have arrived.
 */
export function findFirstFailure(
  api: Wire,
  body: IncomingMessage,
  { signal, isLong }: { readonly signal: AbortSignal; readonly isLong: boolean },
): Promise<ProviderFailure | undefined> | ProviderFailure | undefined {
  const beginning = new StreamBeginning(api, isLong);
  const reading = peekBody(body, signal, (bytes) => beginning.take(bytes));
  return reading ? reading.then(() => beginning.failure) : beginning.failure;
}

/** The first events of a stream, as far as they decide whether it is an error. */
class StreamBeginning {
  readonly #api: Wire;
  readonly #isLong: boolean;
  #parts: { readonly reader: ReplyReader; readonly splitter: SseSplitter } | undefined;
  #fieldFailure: ProviderFailure | undefined;
  #size = 0;

  constructor(api: Wire, isLong: boolean) {
    this.#api = api;
    this.#isLong = isLong;
  }

  get failure(): ProviderFailure | undefined {
    if (!this.#parts || this.#parts.reader.hasBegun) return undefined;
    return this.#parts.reader.failure ?? this.#fieldFailure;
  }

  /** Takes the next bytes; returns true when no more are needed. */
  take(bytes: Buffer): boolean {
    this.#size += bytes.length;
    if (this.#size > MAX_BYTES) return true;
    // Of a short request, only the first bytes count, and hardly any report an error.
    if (!this.#isLong && !FAILURE_WORDS.some((word) => bytes.includes(word))) return true;
    this.#parts ??= { reader: this.#api.createReader(), splitter: new SseSplitter() };
    const { reader, splitter } = this.#parts;
    let isBegun = false;
    for (const event of splitter.push(bytes)) {
      if (event.hasData) reader.take(event);
      // An error after the first content does not count.
      if (reader.hasBegun) return true;
      this.#fieldFailure ??= readFieldFailure(event);
      isBegun ||= event.hasData && !isPreliminary(event);
    }
    return !this.#isLong || isBegun || this.failure !== undefined;
  }
}

function isPreliminary({ event, data }: SseEvent): boolean {
  return PRELIMINARY_EVENTS.includes(toText(parseObject(data)?.type) ?? event ?? "");
}

/** Some llama.cpp servers wrote errors to a field that no client reads. */
function readFieldFailure({ hasData, raw }: SseEvent): ProviderFailure | undefined {
  const [, error] = hasData ? [] : (/^error: (\{.*)/.exec(raw.toString("utf8")) ?? []);
  return error === undefined ? undefined : readFailureReply(400, error);
}

/**
 * Passes the first bytes of a body to `isEnough` as they arrive, until it returns true; all bytes stay available. Returns
 * no promise if those that have arrived are enough.
 */
function peekBody(
  body: IncomingMessage,
  signal: AbortSignal,
  isEnough: (bytes: Buffer) => boolean,
): Promise<void> | undefined {
  if (body.readableEnded || body.destroyed || signal.aborted) return undefined;
  let seen = 0;
  /** Returns true when no more bytes are needed. */
  const look = (): boolean => {
    // Bytes that were put back are reported again.
    const chunk: Buffer | null = body.readableLength > seen ? body.read() : null;
    if (chunk === null) return body.complete;
    const isLast = isEnough(chunk.subarray(seen)) || body.complete;
    seen = chunk.length;
    // Put back at once: a body that has been read completely ends in the next tick.
    body.unshift(chunk);
    return isLast;
  };
  if (body.readableLength > 0 && look()) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      body.off("readable", lookAgain).off("end", done).off("close", done).off("error", done);
      signal.removeEventListener("abort", done);
      clearTimeout(late);
      resolve();
    };
    const lookAgain = () => {
      if (look()) done();
    };
    const late = setTimeout(done, MAX_DELAY_MS).unref();
    body.on("readable", lookAgain).once("end", done).once("close", done).once("error", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
