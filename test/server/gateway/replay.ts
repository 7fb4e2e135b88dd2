import type { ServerResponse } from "node:http";
import { dirname } from "node:path";
import type { Wire, WireObject } from "../../../src/wire/wire.ts";
import { WIRES } from "../../../src/wire/wires.ts";
import { type Answer, ask, type TestGateway, without } from "../../support/gateway.ts";
import { formatEvent, type Heard, type Upstream } from "../../support/upstream.ts";
import { type RecordedFile, readRecorded } from "./recorded.ts";

/** A request of a real client, and its response. */
export interface Recorded {
  readonly url: string;
  readonly api: Wire;
  readonly rawHeaders: readonly string[];
  readonly body: WireObject;
  readonly elements: readonly WireObject[];
  readonly status: number;
  /** The response as it went over the wire. */
  readonly bytes: Buffer;
  readonly isStream: boolean;
  /** True for a response that broke off. */
  readonly isCut: boolean;
}

/** The requests of one client in one scenario, in order. */
export interface Scenario {
  readonly name: string;
  readonly recorded: readonly Recorded[];
}

/** All recorded scenarios. */
export function readScenarios(): readonly Scenario[] {
  const byName = Map.groupBy(readRecorded(), ({ file }) => dirname(file));
  return [...byName].map(([name, files]) => ({ name, recorded: files.map(read) }));
}

function read({ file, url, rawHeaders, body, response }: RecordedFile): Recorded {
  const api = WIRES.find(({ path }) => url.split("?")[0]?.endsWith(path));
  if (!api) throw new Error(`${file} is of no API that is known`);
  const isStream = response.sse !== undefined;
  const events = sameFolder(response.sse ?? []).map((data) =>
    formatEvent({ data, ...(typeof data === "object" && data.type && { event: data.type }) }),
  );
  const isCut = response.truncated === true;
  const sent = isCut ? events.slice(0, Math.ceil(events.length / 2)) : events;
  return {
    url,
    api,
    rawHeaders,
    body,
    elements: body[api.messagesField] as readonly WireObject[],
    status: response.status,
    bytes: Buffer.from(isStream ? sent.join("") : JSON.stringify(response.body)),
    isStream,
    isCut,
  };
}

interface RecordedEvent {
  readonly type?: string;
  readonly object?: string;
}

const RECORDED_IN = /\/tmp\/research\/gateway\/run\/[\w-]+\/proj/g;
const FOLDER = ["", "home", "dev", "proj"].join("/");

/** Replies and requests were recorded in different folders; makes their calls match. */
function sameFolder(events: readonly (RecordedEvent | string)[]): readonly (RecordedEvent | string)[] {
  const pieces: string[] = [];
  const taken = JSON.stringify(events, (key, value) => {
    if (key !== "partial_json" && !(key === "arguments" && isChat(events[0]))) return value;
    pieces.push(value);
    return `piece ${pieces.length}`;
  });
  // Every recorded reply has at most one call.
  const whole = pieces.join("").replaceAll(RECORDED_IN, FOLDER);
  const put = (_: string, number: string) => JSON.stringify(number === "1" ? whole : "");
  return JSON.parse(taken.replaceAll(RECORDED_IN, FOLDER).replace(/"piece (\d+)"/g, put));
}

function isChat(event: RecordedEvent | string | undefined): boolean {
  return typeof event === "object" && event.object === "chat.completion.chunk";
}

/** One request of a replay: the sent request, the one received upstream, and the response. */
export interface Replayed {
  readonly recorded: Recorded;
  readonly sent: Buffer;
  readonly sentHeaders: readonly string[];
  /** The request that the upstream received on the last attempt. */
  readonly heard: Heard;
  readonly answer: Answer;
}

/** Headers that a replay sets itself, or that belong to the connection. */
const OWN = ["host", "connection", "content-length"];

/** Sends a client's requests in order; the upstream gives the recorded replies. */
export async function replay(
  gateway: TestGateway,
  upstream: Upstream,
  { recorded }: Scenario,
  key?: string,
): Promise<readonly Replayed[]> {
  const replayed: Replayed[] = [];
  for (const one of recorded) {
    const before = upstream.heard.length;
    upstream.answer((_, response) => answerAs(one, response));
    const sent = Buffer.from(JSON.stringify(one.body));
    const rawHeaders = withKey(without(one.rawHeaders, OWN), key);
    const answer = await ask(gateway, { path: one.url, body: sent, rawHeaders });
    const heard = upstream.heard.at(-1);
    if (!heard || upstream.heard.length === before)
      throw new Error(`nothing reached the upstream: ${answer.text}`);
    replayed.push({ recorded: one, sent, sentHeaders: rawHeaders, heard, answer });
  }
  return replayed;
}

function withKey(rawHeaders: readonly string[], key: string | undefined): readonly string[] {
  if (key === undefined) return rawHeaders;
  return rawHeaders.map((word, index) => {
    const name = index % 2 === 1 ? rawHeaders[index - 1]?.toLowerCase() : undefined;
    if (name === "x-api-key") return key;
    return name === "authorization" ? `Bearer ${key}` : word;
  });
}

function answerAs({ status, bytes, isStream, isCut }: Recorded, response: ServerResponse): void {
  const type = isStream ? "text/event-stream" : "application/json";
  response.writeHead(status, ["X-Request-Id", "req_1", "content-type", type, "X-Ratelimit-Left", "7"]);
  if (!isCut) response.end(bytes);
  // The bytes must be sent before the connection is dropped.
  else response.write(bytes, () => setImmediate(() => response.destroy()));
}
