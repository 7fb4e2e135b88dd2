import { ByteCollector } from "../../../base/byte-collector.ts";
import type { Api } from "../../api/api.ts";
import type { ReplyRecorder } from "../../call/reply-recorder.ts";
import type { Incoming, Services } from "../../exchange/services.ts";
import { filterHeaders, findRawHeader, getForwardedHeaders } from "../../upstream/raw-headers.ts";
import { readUpstreamBody } from "../../upstream/read-whole.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { type RelayOptions, relayResponse } from "./relay-response.ts";
import type { SseEvent } from "./sse-event.ts";
import { SseSplitter } from "./sse-splitter.ts";

/** Settings for relaying a response. */
export interface RelaySettings {
  readonly api: Api;
  readonly recorder: ReplyRecorder;
  /** Maximum input tokens to report to the client; undefined leaves every byte unchanged. */
  readonly maxTokens: number | undefined;
  /** Further changes to the data of an event or body. */
  readonly change?: ((data: string) => string | undefined) | undefined;
  /** Events to insert after an event, in wire format. */
  readonly eventsAfter?: ((data: string) => string) | undefined;
}

/** Relays a response to the client while it is recorded. */
export async function relayReply(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamResponse,
  settings: RelaySettings,
): Promise<void> {
  const { trace, response, signal } = incoming;
  const { idleMs } = services.config().limits;
  trace.status = upstream.status;
  const isStream = /^\s*text\/event-stream\b/i.test(findRawHeader(upstream.rawHeaders, "content-type") ?? "");
  try {
    if (!isStream && settings.maxTokens !== undefined)
      return await relayWholeBody(incoming, services, upstream, settings);
    const how: Partial<RelayOptions> = isStream
      ? buildStreamOptions(settings)
      : buildBodyOptions(settings, services);
    const { ending, bytes, firstByteMs, failure } = await relayResponse({
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
    await settings.recorder.end();
  }
}

function buildStreamOptions({
  api,
  recorder,
  maxTokens: mostTokens,
  change,
  eventsAfter: behind,
}: RelaySettings): Partial<RelayOptions> {
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
      if (changed !== undefined) return formatEvent(event.event, changed) + more;
      return more === "" ? event.raw : Buffer.concat([event.raw, Buffer.from(more)]);
    },
  };
}

/** Records a body that is not a stream while it is relayed. */
function buildBodyOptions({ recorder }: RelaySettings, services: Services): Partial<RelayOptions> {
  const collected = new ByteCollector();
  let isTooLarge = false;
  const { maxBodyBytes } = services.config().limits;
  return {
    tap: (bytes) => {
      isTooLarge ||= collected.length + bytes.length > maxBodyBytes;
      if (isTooLarge) collected.clear();
      else collected.add(bytes);
    },
    keepsOpen: () => {
      if (!isTooLarge) recorder.takeWhole(collected.take().toString("utf8"));
      return false;
    },
  };
}

/** Sends a body whose usage may have to change once it is complete. */
async function relayWholeBody(
  { response, trace, signal }: Incoming,
  services: Services,
  upstream: UpstreamResponse,
  { api, recorder, maxTokens: mostTokens = 0, change }: RelaySettings,
): Promise<void> {
  const { idleMs, maxBodyBytes } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(upstream.body, maxBodyBytes, { idleMs, signal });
  const text = decoded?.toString("utf8");
  if (text !== undefined) recorder.takeWhole(text);
  const capped = text === undefined ? undefined : api.capUsage(text, mostTokens);
  const changed = text === undefined ? undefined : (change?.(capped ?? text) ?? capped);
  sendWholeBody(response, upstream, raw, changed);
  trace.ending = "complete";
  trace.bytesOut = changed === undefined ? raw.length : Buffer.byteLength(changed);
}

/** Sends a response that has been read, with `changed` in place of its body if given. */
export function sendWholeBody(
  response: Incoming["response"],
  { status, statusMessage, rawHeaders }: UpstreamResponse,
  raw: Buffer,
  changed?: string,
): void {
  const isOfBytes = (name: string) =>
    name === "content-length" || (changed !== undefined && name === "content-encoding");
  const headers = filterHeaders(getForwardedHeaders(rawHeaders), (name) => !isOfBytes(name));
  const body = changed === undefined ? raw : Buffer.from(changed);
  response.sendDate = false;
  response.writeHead(status, statusMessage, [...headers, "Content-Length", String(body.length)]);
  response.end(body);
}

/** An event in wire format. */
export function formatEvent(name: string | undefined, data: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`;
}
