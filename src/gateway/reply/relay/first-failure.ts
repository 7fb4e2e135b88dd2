import type { IncomingMessage } from "node:http";
import type { ProviderFailure } from "../../../window-entry.ts";
import { toText } from "../../../wire/fields.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import { readFailureReply } from "../../../wire/replies/read-failure.ts";
import type { Wire } from "../../../wire/wire.ts";
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

/**
 * The error at the beginning of an event stream, before any content; undefined if there is none. Some providers send
 * status 200 and then refuse; if `isLong`, waits past events without content. The bytes read stay available.
 */
export async function findFirstFailure(
  api: Wire,
  body: IncomingMessage,
  { signal, isLong }: { readonly signal: AbortSignal; readonly isLong: boolean },
): Promise<ProviderFailure | undefined> {
  const reader = api.createReader();
  const splitter = new SseSplitter();
  let failure: ProviderFailure | undefined;
  let isBegun = false;
  let size = 0;
  await peekBody(body, signal, (bytes) => {
    size += bytes.length;
    if (size > MAX_BYTES) return true;
    for (const event of splitter.push(bytes)) {
      if (event.hasData) reader.take(event);
      failure ??= readFieldFailure(event);
      isBegun ||= event.hasData && !isPreliminary(event);
    }
    return !isLong || isBegun || reader.failure !== undefined || failure !== undefined;
  });
  return reader.hasBegun ? undefined : (reader.failure ?? failure);
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
function peekBody(
  body: IncomingMessage,
  signal: AbortSignal,
  isEnough: (bytes: Buffer) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    const done = () => {
      body.off("readable", look).off("end", done).off("close", done).off("error", done);
      signal.removeEventListener("abort", done);
      clearTimeout(late);
      resolve();
    };
    const look = () => {
      // Bytes that were put back are reported again.
      const chunk: Buffer | null = body.readableLength > seen ? body.read() : null;
      if (chunk === null) {
        if (body.complete) done();
        return;
      }
      const isLast = isEnough(chunk.subarray(seen)) || body.complete;
      seen = chunk.length;
      if (isLast) done();
      // Put back at once: a body that has been read completely ends in the next tick.
      body.unshift(chunk);
    };
    const late = setTimeout(done, MAX_DELAY_MS).unref();
    if (body.readableEnded || body.destroyed || signal.aborted) return done();
    body.on("readable", look).once("end", done).once("close", done).once("error", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
