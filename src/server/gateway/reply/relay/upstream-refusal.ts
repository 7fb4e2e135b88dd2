import type { IncomingMessage } from "node:http";
import type { ProviderFailure } from "../../../../kernel/faces/window.ts";
import { parseObject, toText } from "../../../../wire/fields.ts";
import { readFailureReply } from "../../../../wire/replies/read-failure.ts";
import type { ReplyReader, Wire } from "../../../../wire/wire.ts";
import type { Exchange } from "../../exchange/exchange-state.ts";
import { readUpstreamBody, type UpstreamResponse } from "../../upstream/send-upstream.ts";
import { type SseEvent, SseSplitter } from "./sse-splitter.ts";

/** Error replies of providers are short. */
const MAX_BYTES = 1_024 * 1_024;

/** An error reply of an upstream. */
export interface UpstreamRefusal {
  readonly failure: ProviderFailure;
  /** The whole body; undefined if it is a stream that has yet to be read. */
  readonly raw?: Buffer;
  /** The decoded body, if it can be decoded. */
  readonly text?: string | undefined;
}

/** The final response of an upstream. */
export interface UpstreamResult {
  readonly response: UpstreamResponse;
  /** Set if the response is an error that a different window cannot repair. */
  readonly refusal?: UpstreamRefusal;
}

/** Shorter requests do not overflow the window of any provider that streams its errors. */
const LONG_BYTES = 32 * 1_024;

/**
 * The error of an upstream, from its status or the first event of a stream; undefined if it replies normally. For a
 * long request, waits past events without content.
 */
export async function findRefusal(
  exchange: Exchange,
  response: UpstreamResponse,
  sentBytes: number,
): Promise<UpstreamRefusal | undefined> {
  const { incoming, request, call } = exchange;
  if (response.status >= 400) return readRefusal(exchange, response);
  const isLong = call.request.chain !== undefined || sentBytes > LONG_BYTES;
  const failure = await findFirstFailure(request.api, response.body, { signal: incoming.signal, isLong });
  return failure && { failure };
}

async function readRefusal(
  { incoming, services }: Exchange,
  { status, body }: UpstreamResponse,
): Promise<UpstreamRefusal> {
  const { idleMs } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(body, MAX_BYTES, { idleMs, signal: incoming.signal });
  const text = decoded?.toString("utf8");
  return { failure: readFailureReply(status, text ?? ""), raw, text };
}

/** A longer beginning is not an error. */
const MAX_BEGINNING_BYTES = 64 * 1_024;
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
 * status 200 and then refuse; if `isLong`, waits past events without content. The bytes read stay available.
 */
export async function findFirstFailure(
  api: Wire,
  body: IncomingMessage,
  { signal, isLong }: { readonly signal: AbortSignal; readonly isLong: boolean },
): Promise<ProviderFailure | undefined> {
  const beginning = new StreamBeginning(api, isLong);
  await peekBody(body, signal, (bytes) => beginning.take(bytes));
  return beginning.failure;
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
    if (this.#size > MAX_BEGINNING_BYTES) return true;
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

/** Passes the first bytes of a body to `isEnough` as they arrive, until it returns true; all bytes stay available. */
async function peekBody(
  body: IncomingMessage,
  signal: AbortSignal,
  isEnough: (bytes: Buffer) => boolean,
): Promise<void> {
  if (body.readableEnded || body.destroyed || signal.aborted) return;
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
  if (body.readableLength > 0 && look()) return;
  await new Promise<void>((resolve) => {
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
