import type { Api } from "../api/api.ts";
import { ByteCollector } from "../body/byte-collector.ts";
import { type RelayOptions, relay } from "../stream/relay.ts";
import type { SseEvent } from "../stream/sse-event.ts";
import { SseSplitter } from "../stream/sse-splitter.ts";
import type { Recorder } from "../thread/recorder.ts";
import { answerHeaders, filterHeaders, headerOf } from "../upstream/hop-by-hop.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** Settings for relaying a response. */
export interface Answering {
  readonly api: Api;
  readonly recorder: Recorder;
  /** Maximum input tokens to report to the client; undefined leaves every byte unchanged. */
  readonly mostTokens: number | undefined;
  /** Further changes to the data of an event or body. */
  readonly change?: ((data: string) => string | undefined) | undefined;
  /** Events to insert after an event, in wire format. */
  readonly behind?: ((data: string) => string) | undefined;
}

/** Relays a response to the client while it is recorded. */
export async function answer(
  admitted: Admitted,
  parts: ExchangeParts,
  upstream: UpstreamAnswer,
  answering: Answering,
): Promise<void> {
  const { trace, response, signal } = admitted;
  const { idleMs } = parts.config().limits;
  trace.status = upstream.status;
  const isStream = /^\s*text\/event-stream\b/i.test(headerOf(upstream.rawHeaders, "content-type") ?? "");
  try {
    if (!isStream && answering.mostTokens !== undefined)
      return await answerWhole(admitted, parts, upstream, answering);
    const how: Partial<RelayOptions> = isStream ? ofStream(answering) : ofBody(answering, parts);
    const { ending, bytes, firstByteMs, failure } = await relay({
      answer: upstream,
      response,
      signal,
      idleMs,
      startedAt: trace.startedMs,
      ...how,
    });
    trace.ending = ending;
    trace.bytesOut = bytes;
    if (firstByteMs !== undefined) trace.firstByteMs = firstByteMs;
    if (failure) trace.error = failure.reason;
  } finally {
    await answering.recorder.end();
  }
}

function ofStream({ api, recorder, mostTokens, change, behind }: Answering): Partial<RelayOptions> {
  if (mostTokens === undefined) {
    const splitter = new SseSplitter();
    const take = (event: SseEvent) => {
      if (event.hasData) recorder.take(event);
    };
    return { tap: (bytes) => splitter.push(bytes).forEach(take) };
  }
  return {
    transform: (event) => {
      const { data } = event;
      recorder.take(event);
      const capped = api.capUsage(data, mostTokens);
      const changed = change?.(capped ?? data) ?? capped;
      const more = behind?.(data) ?? "";
      if (changed !== undefined) return eventBytes(event.event, changed) + more;
      return more === "" ? event.raw : Buffer.concat([event.raw, Buffer.from(more)]);
    },
  };
}

/** Records a body that is not a stream while it is relayed. */
function ofBody({ recorder }: Answering, parts: ExchangeParts): Partial<RelayOptions> {
  const collected = new ByteCollector();
  let isTooLarge = false;
  const { maxBodyBytes } = parts.config().limits;
  return {
    tap: (bytes) => {
      isTooLarge ||= collected.length + bytes.length > maxBodyBytes;
      if (isTooLarge) collected.clear();
      else collected.add(bytes);
    },
    continues: () => {
      if (!isTooLarge) recorder.takeWhole(collected.take().toString("utf8"));
      return false;
    },
  };
}

/** Sends a body whose usage may have to change once it is complete. */
async function answerWhole(
  { response, trace, signal }: Admitted,
  parts: ExchangeParts,
  upstream: UpstreamAnswer,
  { api, recorder, mostTokens = 0, change }: Answering,
): Promise<void> {
  const { idleMs, maxBodyBytes } = parts.config().limits;
  const { raw, decoded } = await readWhole(upstream.body, maxBodyBytes, { idleMs, signal });
  const text = decoded?.toString("utf8");
  if (text !== undefined) recorder.takeWhole(text);
  const capped = text === undefined ? undefined : api.capUsage(text, mostTokens);
  const changed = text === undefined ? undefined : (change?.(capped ?? text) ?? capped);
  sendWhole(response, upstream, raw, changed);
  trace.ending = "complete";
  trace.bytesOut = changed === undefined ? raw.length : Buffer.byteLength(changed);
}

/** Sends a response that has been read, with `changed` in place of its body if given. */
export function sendWhole(
  response: Admitted["response"],
  { status, statusMessage, rawHeaders }: UpstreamAnswer,
  raw: Buffer,
  changed?: string,
): void {
  const isOfBytes = (name: string) =>
    name === "content-length" || (changed !== undefined && name === "content-encoding");
  const headers = filterHeaders(answerHeaders(rawHeaders), (name) => !isOfBytes(name));
  const body = changed === undefined ? raw : Buffer.from(changed);
  response.sendDate = false;
  response.writeHead(status, statusMessage, [...headers, "Content-Length", String(body.length)]);
  response.end(body);
}

/** An event in wire format. */
export function eventBytes(name: string | undefined, data: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`;
}
