import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isReasoningRule, StrictProvider } from "../../test/support/provider-rules/strict-provider.ts";
import { anthropic } from "../../test/support/wire-server/anthropic.ts";
import type { WireApi } from "../../test/support/wire-server/api.ts";
import type { Behaviour, Reply } from "../../test/support/wire-server/behaviour.ts";
import { google } from "../../test/support/wire-server/google.ts";
import { openaiChat } from "../../test/support/wire-server/openai-chat.ts";
import { openaiResponses } from "../../test/support/wire-server/openai-responses.ts";
import { perform } from "../../test/support/wire-server/perform.ts";
import { WINDOW } from "../agents/agent.ts";
import { answer, countShown, giveUp, type Purpose, purposeOf, type Script, wantedFiles } from "./answer.ts";
import { readAsked } from "./asked.ts";
import { resultCounter } from "./count-results.ts";
import { overflowBody } from "./refusal.ts";

/** Longer than any pause of a test: a server that closes an idle connection races with the next request on it. */
const KEEP_ALIVE_MS = 10 * 60_000;

const APIS: readonly WireApi[] = [anthropic, openaiChat, openaiResponses, google];

/** A fault that can be scripted for one request of the conversation. */
export type ScriptedFault = "overflow" | "rate-limit" | "cut" | "stall";

/** A fault of one request; reasoning is refused where a message before it has changed. */
export type Fault = ScriptedFault | "reasoning";

/** Behavior of the upstream. */
export interface UpstreamOptions extends Script {
  /** Faults by number of the request in the conversation, starting at 1; titles and summaries do not count. */
  readonly faults?: Readonly<Record<number, ScriptedFault>>;
  /** From this request on, every request of the conversation is refused as too long. */
  readonly refusedFrom?: number;
  /** True if requests for a summary are then refused too. */
  readonly areSummariesRefused?: boolean;
  /** Tokens that a request may have; unlimited by default. */
  readonly window?: number;
  /** Every request with so many tool results is refused, whatever its purpose. */
  readonly refusedResults?: number;
  /** Number of reads that fit in the window after the first request; unlimited by default. */
  readonly readsWithRoom?: number;
}

/** A received request and its classification. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Undefined if it is not a model request. */
  readonly api?: string;
  readonly purpose?: Purpose;
  /** Its fault; an overflow is either scripted or caused by the limit. */
  readonly fault?: Fault;
  /** The files that the reply asks for. */
  readonly reads: readonly string[];
}

/** A provider on loopback that plays its script. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Resolves when a reply has stalled. */
  readonly stalled: Promise<void>;
  close(): Promise<void>;
}

/** After so many calls the model gives up, and the turn is wrong: it has read the same files again and again. */
const MAX_CALLS = 24;
const MAX_CALLS_PER_FILE = 6;
/** The numbers with which a request with too many results is refused, however short it is. */
const CROWDED = { tokens: WINDOW + 1_234, limit: WINDOW };
const CUT_AFTER_EVENTS = 4;
/** Time for the client to show the output so far. */
const STALL_MS = 1_500;

/** Starts the upstream on a free port. */
export async function startUpstream(options: UpstreamOptions): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = [];
  let calls = 0;
  let asked = 0;
  let first = 0;
  let limit = options.window ?? Number.POSITIVE_INFINITY;
  const maxCalls = Math.max(MAX_CALLS, MAX_CALLS_PER_FILE * new Set(options.files).size);
  const stalled = Promise.withResolvers<void>();
  const script: Script = { ...options, countResults: resultCounter() };
  const provider = new StrictProvider();

  const nextId = (api: WireApi) =>
    `${api === anthropic ? "toolu" : "call"}_${String(++calls).padStart(24, "0")}`;

  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS },
    (incoming, response) => void take(incoming, response),
  );

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(incoming).catch(() => undefined);
    if (bytes === undefined) return;
    const { method = "", url = "", rawHeaders } = incoming;
    const { pathname: path } = new URL(url, "http://upstream");
    const api = method === "POST" ? APIS.find(({ matches }) => matches(path)) : undefined;
    const body = api && fieldsOf(bytes);
    const seen = { method, url, rawHeaders, body: bytes, reads: [] };
    const header = (name: string) => incoming.headers[name]?.toString();
    const request = { path, body: body ?? fieldsOf(bytes) ?? {}, header };
    const judgement = provider.judge(request);
    const refusal = isReasoningRule(judgement.refusal) ? judgement.refusal : undefined;
    if (refusal) {
      requests.push({ ...seen, ...(api && { api: api.name }), fault: "reasoning" });
      response.writeHead(refusal.status, { "content-type": "application/json" });
      response.end(JSON.stringify(refusal.body));
      return;
    }
    if (!api || !body) {
      requests.push(seen);
      answerAside(seen, path, incoming.headers.upgrade !== undefined, response);
      return;
    }
    const { behaviour, purpose, fault, reads } = decide(api, body, bytes.length);
    requests.push({ ...seen, api: api.name, purpose, reads, ...(fault && { fault }) });
    const sealed =
      "reply" in behaviour
        ? { ...behaviour, reply: provider.seal(request, judgement, behaviour.reply) }
        : behaviour;
    perform(sealed, api, { path, body }, response);
    if (fault === "stall") setTimeout(stalled.resolve, STALL_MS);
  }

  function decide(api: WireApi, body: Readonly<Record<string, unknown>>, sizeBytes: number) {
    const request = readAsked(api.name, body);
    const understood = purposeOf(request, script);
    const hasLostTrack = understood === "read" && calls >= maxCalls;
    const purpose = hasLostTrack ? "final" : understood;
    const tokens = tokensOf(sizeBytes);
    const isConversation = purpose === "read" || purpose === "final";
    if (isConversation) learnLimit(++asked, tokens);
    const scripted = isConversation ? options.faults?.[asked] : undefined;
    const isCrowded = countShown(request) >= (options.refusedResults ?? Number.POSITIVE_INFINITY);
    const isRefused =
      isCrowded || (asked >= (options.refusedFrom ?? Number.POSITIVE_INFINITY) && isRefusable(purpose));
    const fault = tokens > limit || isRefused ? ("overflow" as const) : scripted;
    const usage = { input: tokens, output: 20 };
    const newId = () => nextId(api);
    const said = hasLostTrack ? giveUp(request, newId) : answer(request, purpose, script, newId);
    const thought = thinks(body) ? { reasoning: `I think about request ${requests.length + 1}.` } : {};
    const reply = { ...thought, ...said, usage };
    const named = isCrowded ? CROWDED : { tokens, limit: tokens > limit ? limit : tokens - 2_000 };
    const behaviour = behaviourOf(api, fault, reply, named);
    const reads = purpose === "read" && !fault ? wantedFiles(request, script) : [];
    return { behaviour, purpose, fault, reads };
  }

  function isRefusable(purpose: Purpose): boolean {
    return purpose === "read" || purpose === "final" || options.areSummariesRefused === true;
  }

  /** Derives the limit from the first two requests, whose difference is the size of one read. */
  function learnLimit(number: number, tokens: number): void {
    if (options.readsWithRoom === undefined) return;
    if (number === 1) first = tokens;
    if (number === 2) limit = Math.round(first + options.readsWithRoom * (tokens - first));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stalled: stalled.promise,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a client asks for thinking that it can send back. */
function thinks({ thinking, include }: Readonly<Record<string, unknown>>): boolean {
  const { type } = Object(thinking) as { readonly type?: unknown };
  const isIncluded = Array.isArray(include) && include.includes("reasoning.encrypted_content");
  return (type !== undefined && type !== "disabled") || isIncluded;
}

function behaviourOf(
  api: WireApi,
  fault: Fault | undefined,
  reply: Reply,
  { tokens, limit }: { readonly tokens: number; readonly limit: number },
): Behaviour {
  if (fault === "overflow")
    return { type: "error", kind: "overflow", body: overflowBody(api.name, tokens, limit) };
  if (fault === "rate-limit") return { type: "error", kind: "rate-limit", headers: { "retry-after": "1" } };
  if (fault === "stall") return { type: "stall-midway", reply, afterEvents: CUT_AFTER_EVENTS };
  if (fault === "cut") return { type: "cut", reply, afterEvents: CUT_AFTER_EVENTS };
  return { type: "reply", reply };
}

/** Answers requests outside the conversation; anything unknown gets a 404, as from a provider. */
function answerAside(
  { method, body: { length } }: Pick<SeenRequest, "method" | "body">,
  path: string,
  isUpgrade: boolean,
  response: ServerResponse,
): void {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(method === "HEAD" ? undefined : JSON.stringify(body));
  };
  if (isUpgrade) send(426, { error: { type: "invalid_request_error", message: "only HTTP is spoken here" } });
  else if (path.endsWith("/count_tokens")) send(200, { input_tokens: tokensOf(length) });
  else if (path.endsWith(":countTokens")) send(200, { totalTokens: tokensOf(length) });
  else if (path.endsWith("/models")) send(200, { object: "list", data: [] });
  else send(404, { error: { type: "not_found_error", message: `${method} ${path} is not here` } });
}

function tokensOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 4);
}

function fieldsOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
