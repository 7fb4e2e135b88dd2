import type { IncomingMessage } from "node:http";
import type { ProviderFailure } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { SseSplitter } from "../stream/sse-splitter.ts";

/** Longer beginnings are no errors. */
const MOST_BYTES = 64 * 1_024;
/** The client is not to wait longer for the head of an answer whose first event is late. */
const MOST_MS = 1_000;

/**
 * The error that a stream of events begins with, before anything is said; undefined if it begins otherwise. Some providers
 * answer 200 and refuse then. What was read is there to be read again.
 */
export async function firstFailure(
  api: Api,
  body: IncomingMessage,
  signal: AbortSignal,
): Promise<ProviderFailure | undefined> {
  const chunk = await firstChunk(body, signal);
  if (!chunk || chunk.length > MOST_BYTES || !chunk.includes("error")) return undefined;
  const reader = api.makeReader();
  for (const event of new SseSplitter().push(chunk)) if (event.hasData) reader.take(event);
  return reader.hasBegun ? undefined : reader.failure;
}

/** The first bytes of a body, as soon as there are any; undefined if none come. */
function firstChunk(body: IncomingMessage, signal: AbortSignal): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const done = () => {
      body.off("readable", look).off("end", done).off("close", done).off("error", done);
      signal.removeEventListener("abort", done);
      clearTimeout(late);
      resolve(undefined);
    };
    const look = () => {
      const chunk: Buffer | null = body.read();
      if (chunk === null && !body.readableEnded) return;
      const isThere = chunk !== null;
      if (isThere) resolve(chunk);
      done();
      // At once: a body that has been read to its end says so in the next moment.
      if (isThere) body.unshift(chunk);
    };
    const late = setTimeout(done, MOST_MS).unref();
    if (body.readableEnded || body.destroyed || signal.aborted) return done();
    body.on("readable", look).once("end", done).once("close", done).once("error", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
