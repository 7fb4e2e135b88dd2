import type { IncomingMessage } from "node:http";
import { textOf } from "../../formats/content/fields.ts";
import type { ProviderFailure } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { objectIn } from "../api/replies/event-json.ts";
import { failureOf } from "../api/replies/failure.ts";
import type { SseEvent } from "../stream/sse-event.ts";
import { SseSplitter } from "../stream/sse-splitter.ts";

/** Longer beginnings are no errors. */
const MOST_BYTES = 64 * 1_024;
/** The client is not to wait longer for the head of an answer whose first event is late. */
const MOST_MS = 1_000;
/** Events that are sent before a provider has looked at the request. */
const BEFORE: readonly string[] = ["ping", "response.created", "response.queued", "response.in_progress"];

/**
 * The error that a stream of events begins with, before anything is said; undefined if it begins otherwise. Some providers
 * answer 200 and refuse then, where `isLong` behind events that say nothing yet. What was read is there to be read again.
 */
export async function firstFailure(
  api: Api,
  body: IncomingMessage,
  { signal, isLong }: { readonly signal: AbortSignal; readonly isLong: boolean },
): Promise<ProviderFailure | undefined> {
  const reader = api.makeReader();
  const splitter = new SseSplitter();
  let failure: ProviderFailure | undefined;
  let isBegun = false;
  let size = 0;
  await beginning(body, signal, (bytes) => {
    size += bytes.length;
    if (size > MOST_BYTES) return true;
    for (const event of splitter.push(bytes)) {
      if (event.hasData) reader.take(event);
      failure ??= fieldFailure(event);
      isBegun ||= event.hasData && !isBefore(event);
    }
    return !isLong || isBegun || reader.failure !== undefined || failure !== undefined;
  });
  return reader.hasBegun ? undefined : (reader.failure ?? failure);
}

function isBefore({ event, data }: SseEvent): boolean {
  return BEFORE.includes(textOf(objectIn(data)?.type) ?? event ?? "");
}

/** Servers of llama.cpp once wrote errors in a field that no client reads. */
function fieldFailure({ hasData, raw }: SseEvent): ProviderFailure | undefined {
  const [, error] = hasData ? [] : (/^error: (\{.*)/.exec(raw.toString("utf8")) ?? []);
  return error === undefined ? undefined : failureOf(400, error);
}

/** Shows the first bytes of a body as they come, until `isEnough` of them; all of them stay there to be read. */
function beginning(
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
      // What was put back is told of again.
      const chunk: Buffer | null = body.readableLength > seen ? body.read() : null;
      if (chunk === null) {
        if (body.complete) done();
        return;
      }
      const isLast = isEnough(chunk.subarray(seen)) || body.complete;
      seen = chunk.length;
      if (isLast) done();
      // At once: a body that has been read to its end says so in the next moment.
      body.unshift(chunk);
    };
    const late = setTimeout(done, MOST_MS).unref();
    if (body.readableEnded || body.destroyed || signal.aborted) return done();
    body.on("readable", look).once("end", done).once("close", done).once("error", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
