import { ByteCollector } from "../../../../model/base/byte-collector.ts";
import { AwsFrameSplitter, readFrameEvent } from "../../../../wire/bedrock/aws-frames.ts";
import type { Wire, WireEvent } from "../../../../wire/wire.ts";
import type { Incoming } from "../../door/read-body.ts";
import type { Exchange, ReplyRelay } from "../../exchange/exchange-state.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { readUpstreamBody } from "../../upstream/send-upstream.ts";
import { findRawHeader, getForwardedHeaders, type RawHeaders } from "../../upstream/upstream-headers.ts";
import { reportSpending } from "../record-reply.ts";
import { type RelayOptions, relayResponse } from "./relay-response.ts";
import { type SseEvent, SseSplitter } from "./sse-splitter.ts";

/**
 * A client that has left before the end still pays for the reply, whose usage follows soon if its text is complete. A reply
 * that continues for longer is ended, so that the provider stops writing it.
 */
const READ_ON = { ms: 1_000, bytes: 1_024 * 1_024 };
const EVENT_STREAM = /^\s*text\/event-stream\b/i;
/** The type of a stream in Amazon's binary frames. */
const AWS_STREAM = /^\s*application\/vnd\.amazon\.eventstream\b/i;

/** Relays a response to the client while it is recorded. */
export async function relayReply(
  exchange: Exchange,
  reply: ReplyRelay,
  answer: UpstreamResponse,
): Promise<void> {
  const { trace, incoming, services, request } = exchange;
  const { response, signal } = incoming;
  const { idleMs, maxBodyBytes } = services.config().limits;
  trace.status = answer.status;
  const type = findRawHeader(answer.rawHeaders, "content-type") ?? "";
  const isFramed = AWS_STREAM.test(type);
  const isStream = isFramed || EVENT_STREAM.test(type);
  try {
    if (!isStream && reply.maxTokens !== undefined) return await relayWholeBody(exchange, reply, answer);
    const afterwards = request.api.createReader();
    let hasLeft = false;
    const take = (event: WireEvent) => (hasLeft ? afterwards : reply.recorder).take(event);
    const options = isFramed
      ? buildFrameOptions(take)
      : isStream
        ? buildStreamOptions(request.api, reply, take)
        : buildBodyOptions(reply, maxBodyBytes);
    const { ending, bytes, firstByteMs, failure, rest } = await relayResponse({
      answer,
      response,
      signal,
      idleMs,
      startedAt: trace.startedMs,
      hold: () => reply.recorder.storing,
      ...(isStream && incoming.spending?.isMeasured && { readOn: READ_ON }),
      ...options,
    });
    if (rest) {
      hasLeft = true;
      incoming.spending?.waitFor(rest.then(() => reportSpending(exchange, afterwards)));
    }
    trace.ending = ending;
    trace.bytesOut = bytes;
    if (firstByteMs !== undefined) trace.firstByteMs = firstByteMs;
    if (failure) trace.error = failure.reason;
    if (!reply.recorder.reader.isComplete) exchange.failure = failure;
  } finally {
    await reply.recorder.end();
  }
}

/** True for an event stream. */
export function isEventStream(rawHeaders: RawHeaders): boolean {
  return EVENT_STREAM.test(findRawHeader(rawHeaders, "content-type") ?? "");
}

function buildStreamOptions(
  api: Wire,
  { maxTokens, change, eventsAfter }: ReplyRelay,
  take: (event: WireEvent) => void,
): Partial<RelayOptions> {
  if (maxTokens === undefined && !change) {
    const splitter = new SseSplitter();
    const takeData = (event: SseEvent) => {
      if (event.hasData) take(event);
    };
    return { tap: (bytes) => splitter.push(bytes).forEach(takeData) };
  }
  return {
    transform: (event) => {
      const { data } = event;
      take(event);
      const capped = maxTokens === undefined ? undefined : api.capUsage(data, maxTokens);
      const changed = change?.(capped ?? data) ?? capped;
      if (changed === "") return undefined;
      const more = eventsAfter?.(data) ?? "";
      if (changed !== undefined) return formatEvent(event.event, changed) + more;
      return more === "" ? event.raw : Buffer.concat([event.raw, Buffer.from(more)]);
    },
  };
}

/** Records a stream of Amazon's frames; frames that cannot be read are ignored, and the client gets all bytes. */
function buildFrameOptions(take: (event: WireEvent) => void): Partial<RelayOptions> {
  const splitter = new AwsFrameSplitter();
  return {
    tap: (bytes) => {
      for (const { payload } of splitter.push(bytes)) {
        const data = readFrameEvent(payload);
        if (data !== undefined) take({ data });
      }
    },
  };
}

/** Records a body that is not a stream while it is relayed. */
function buildBodyOptions({ recorder }: ReplyRelay, maxBodyBytes: number): Partial<RelayOptions> {
  const collected = new ByteCollector();
  let isTooLarge = false;
  return {
    keepsLast: true,
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
  { incoming, services, trace, request: { api } }: Exchange,
  { recorder, maxTokens = 0, change }: ReplyRelay,
  answer: UpstreamResponse,
): Promise<void> {
  const { idleMs, maxBodyBytes } = services.config().limits;
  const { signal } = incoming;
  const { raw, decoded } = await readUpstreamBody(answer.body, maxBodyBytes, { idleMs, signal });
  const text = decoded?.toString("utf8");
  const parsed = text === undefined ? undefined : recorder.takeWhole(text);
  await recorder.waitUntilStored();
  const capped = text === undefined ? undefined : api.capUsage(text, maxTokens, parsed);
  const changed = text === undefined ? undefined : (change?.(capped ?? text) ?? capped);
  sendWholeBody(incoming.response, answer, raw, changed);
  trace.ending = "complete";
  trace.bytesOut = changed === undefined ? raw.length : Buffer.byteLength(changed);
}

const LENGTH: ReadonlySet<string> = new Set(["content-length"]);
const LENGTH_AND_CODING: ReadonlySet<string> = new Set(["content-length", "content-encoding"]);

/** Sends a response that has been read, with `changed` in place of its body if given. */
export function sendWholeBody(
  response: Incoming["response"],
  { status, statusMessage, rawHeaders }: UpstreamResponse,
  raw: Buffer,
  changed?: string,
): void {
  const headers = getForwardedHeaders(rawHeaders, changed === undefined ? LENGTH : LENGTH_AND_CODING);
  const body = changed === undefined ? raw : Buffer.from(changed);
  response.sendDate = false;
  response.writeHead(status, statusMessage, [...headers, "Content-Length", String(body.length)]);
  response.end(body);
}

/** An event in wire format. */
export function formatEvent(name: string | undefined, data: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`;
}
