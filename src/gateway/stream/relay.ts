import type { ServerResponse } from "node:http";
import { answerHeaders, filterHeaders, headerOf, type RawHeaders } from "../upstream/hop-by-hop.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import type { UpstreamError } from "../upstream/upstream-error.ts";
import { openClient } from "./client.ts";
import { type Decoding, openDecoding } from "./decoding.ts";
import { openEventWriter } from "./event-writer.ts";
import { Listening } from "./listening.ts";
import { openSource } from "./source.ts";
import type { SseEvent } from "./sse-event.ts";
import { openTap } from "./tap.ts";

/** How a relay ended. */
export type Ending =
  | "complete"
  /** The upstream's connection ended before its answer did. */
  | "upstream-cut"
  | "upstream-idle"
  | "client-gone"
  /** The client took nothing for too long. */
  | "client-stalled"
  /** Our own signal ended it. */
  | "stopped";

/** What is relayed, and how. */
export interface RelayOptions {
  readonly answer: UpstreamAnswer;
  readonly response: ServerResponse;
  /** The head's headers; those of the answer without those of its connection when absent. */
  readonly rawHeaders?: RawHeaders | undefined;
  /**
   * The bytes to send for an event of a stream; undefined leaves it out. Comments pass. An answer that is no stream of
   * events, or in an unknown encoding, goes as it comes, as everything does without this.
   */
  readonly transform?: ((event: SseEvent) => Uint8Array | string | undefined) | undefined;
  /** Gets the bytes that come, without their content encoding. They are not to be changed. */
  readonly tap?: ((bytes: Buffer) => void) | undefined;
  /** What to send before the client's connection is broken off because the upstream's was. */
  readonly lastWords?: ((failure: UpstreamError) => Uint8Array | string | undefined) | undefined;
  /** Asked when all came: true leaves the response open for another relay, which sends no head. */
  readonly continues?: (() => boolean) | undefined;
  /** Asked when the upstream's answer broke off: true leaves the response open all the same, for whoever can end it. */
  readonly mends?: ((failure: UpstreamError) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Longest silence of the upstream, and longest time for which the client takes nothing. */
  readonly idleMs: number;
  /** From when `firstByteMs` counts, as `performance.now()` says; the call when absent. */
  readonly startedAt?: number | undefined;
}

/** What became of a relay. */
export interface Relayed {
  readonly ending: Ending;
  /** Bytes of the body that were sent. */
  readonly bytes: number;
  readonly firstByteMs: number | undefined;
  /** Why the upstream's answer is not whole. */
  readonly failure: UpstreamError | undefined;
  /** Why the tap saw no more; the client was not affected. */
  readonly tapFailure: unknown;
}

/**
 * Hands an answer to the client while it comes, no faster than the client takes it. When it resolves, neither side is
 * listened to any more, and an upstream whose answer did not end has been let go. Throws only what `transform` throws.
 */
export async function relay(options: RelayOptions): Promise<Relayed> {
  const { answer, response, tap: take, signal, idleMs, startedAt = performance.now() } = options;
  const { body } = answer;
  const { transform, decoding } = openTransform(options, (error) => source.fail(error));
  const listening = new Listening();
  const over = Promise.withResolvers<Ending>();
  let failure: UpstreamError | undefined;
  let broken: Ending | undefined;
  let isTapFull = false;

  const lose = (ending: Ending) => {
    body.destroy();
    response.destroy();
    over.resolve(broken ?? ending);
  };
  const resume = () => {
    if (!client.isFull && !isTapFull) source.resume();
  };
  const client = openClient(response, idleMs, listening, {
    onReady: resume,
    onLost: lose,
    onFinished: () => over.resolve("complete"),
  });
  const tap =
    take &&
    openTap(decoding ? [] : answer.rawHeaders, take, () => {
      isTapFull = false;
      resume();
    });
  const writer = transform && openEventWriter(transform, client.send);
  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      over.reject(error);
      lose("stopped");
    }
  };
  const source = openSource(body, decoding, idleMs, listening, {
    onBytes: (bytes) =>
      guarded(() => {
        client.gather();
        if (tap?.push(bytes) === false) isTapFull = true;
        const unfit = writer ? writer.push(bytes) : void client.send(bytes);
        if (unfit) source.fail(unfit);
        if (client.isFull || isTapFull) source.pause();
      }),
    onEnd: (why) =>
      guarded(() => {
        failure = why ?? writer?.end();
        if (failure) breakOff(failure);
        // Who is asked whether it goes on has to know all that came, and who asks again, that it is known.
        else if (tap?.isLate) void tap.end().then(() => guarded(finish));
        else finish();
      }),
  });
  const finish = () => {
    client.flush();
    if (options.continues?.()) over.resolve("complete");
    else client.end(body.rawTrailers);
  };
  const breakOff = (why: UpstreamError) => {
    if (why.reason === "aborted") return lose(goneOrStopped());
    client.flush();
    if (options.mends?.(why)) return over.resolve("complete");
    broken = why.reason === "idle" ? "upstream-idle" : "upstream-cut";
    const words = options.lastWords?.(why);
    if (words !== undefined) client.send(words);
    client.cut();
  };
  const goneOrStopped = () => (response.req.socket.destroyed ? "client-gone" : "stopped");

  try {
    if (signal?.aborted || response.req.socket.destroyed) lose(goneOrStopped());
    else {
      if (client.isFull) source.pause();
      if (signal) listening.onAbort(signal, () => lose(goneOrStopped()));
      sendHead(options, transform !== undefined);
      // A head whose body is close behind goes out together with it.
      setImmediate(() => {
        if (client.bytes === 0 && !response.writableEnded && !response.destroyed) response.flushHeaders();
      });
    }
    const ending = await over.promise;
    const { bytes, firstByteAt } = client;
    listening.end();
    await tap?.end();
    const firstByteMs = firstByteAt === undefined ? undefined : firstByteAt - startedAt;
    return { ending, bytes, firstByteMs, failure, tapFailure: tap?.failure };
  } finally {
    listening.end();
    decoding?.destroy();
    if (!body.readableEnded) body.destroy();
  }
}

/** What changes the events of an answer, where it has any that can be read. */
function openTransform(
  { answer: { rawHeaders }, transform }: RelayOptions,
  onFailure: (error: UpstreamError) => void,
): { readonly transform?: NonNullable<RelayOptions["transform"]>; readonly decoding?: Decoding } {
  if (!transform || !/^\s*text\/event-stream\b/i.test(headerOf(rawHeaders, "content-type") ?? "")) return {};
  try {
    const decoding = openDecoding(rawHeaders, onFailure);
    return decoding ? { transform, decoding } : { transform };
  } catch {
    return {};
  }
}

function sendHead({ answer, response, rawHeaders }: RelayOptions, isChanged: boolean): void {
  if (response.headersSent) return;
  const headers = answerHeaders(rawHeaders ?? answer.rawHeaders);
  const sent = isChanged ? filterHeaders(headers, (name) => !OF_THE_BYTES.has(name)) : headers;
  response.sendDate = false;
  response.writeHead(answer.status, answer.statusMessage, sent);
}

/** Headers that are true only of the very bytes that came. */
const OF_THE_BYTES: ReadonlySet<string> = new Set([
  "content-length",
  "content-encoding",
  "content-md5",
  "digest",
]);
