import { unescape as decodeSegment } from "node:querystring";
import { Turns } from "../../../model/base/turns.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { getWire } from "../../../wire/wires.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import type { Services } from "../exchange/services.ts";
import { findThread } from "../lookup/find-thread.ts";
import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { sendWholeBody } from "../reply/relay/relay-reply.ts";
import { relayResponse } from "../reply/relay/relay-response.ts";
import { BodyError, cutBody, oddFieldSteps, parseRange } from "../request/cut-body.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import { type ParsedRequest, readRequest } from "../request/read-request.ts";
import { collectModels, findNamedModels } from "../request/stream-usage.ts";
import { checkBodyReadable, checkEndpointAccess, checkReferenceAccess } from "../upstream/check-ownership.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { readUpstreamBody } from "../upstream/send-upstream.ts";
import {
  checkTargetAllowed,
  checkUpstreamAllowed,
  chooseModelTarget,
  chooseTarget,
  chooseUpstream,
  findBoundUpstreams,
  mayUseModel,
  type Target,
} from "../upstream/target.ts";
import { countTokens } from "./count-tokens.ts";

const MAX_BYTES = 16 * 1_024 * 1_024;

/** The lists of models in the bodies of providers, and the fields that name a model in them. */
const LIST_FIELDS = ["data", "models"];
const NAME_FIELDS = ["id", "slug", "name", "model"];

/** Larger replies are relayed, but not recorded. */
const MAX_RECORDED_BYTES = 32 * 1_024 * 1_024;

/** Handles endpoints without a conversation; the model that a request names, if any, decides the upstream. */
export async function forwardRequest(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  if (route.type === "models") return listModels(incoming, services);
  if (route.type === "api" && route.action === "compact") {
    if (await compactResponses(incoming, services)) return;
  } else if (route.type === "api") {
    const { model, others } = await readModels(body);
    const target = chooseModelTarget(route.model ?? model, incoming, services);
    checkTargetAllowed(incoming.principal, target, () => others);
    await checkReferenceAccess(incoming, services, target.upstream);
    return countTokens(incoming, services, target);
  }
  await forwardUnchanged(incoming, services);
}

/** Forwards a request unchanged, except for the model's name; `isRead` if its fields and references were checked before. */
export async function forwardUnchanged(
  incoming: Incoming,
  services: Services,
  isRead = false,
): Promise<void> {
  const { route, body, principal } = incoming;
  const isNeeded = await isModelNeeded(incoming, services);
  const named = isNeeded ? await readModels(body) : { model: undefined, others: [] };
  const asked = findPathModel(route);
  const clientModel = asked ?? named.model;
  const chosen = chooseUpstream(findBoundUpstreams(services.config().upstreams, route), {
    api: route.api,
    model: clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  const { upstream, model = clientModel } = chosen;
  const isReading = incoming.request.method === "GET" || incoming.request.method === "HEAD";
  if (isReading && asked === undefined) checkUpstreamAllowed(principal, upstream);
  else checkTargetAllowed(principal, { upstream, model, clientModel }, () => named.others);
  if (!isReading) {
    const models = [model ?? "", ...named.others];
    await incoming.spending?.checkUnmeasured({ project: undefined, models });
  }
  if (route.type === "pass") await checkEndpointAccess(incoming, services, upstream);
  else if (!isRead) checkBodyReadable(incoming, services, upstream);
  const isRenamed = asked === undefined && model !== clientModel;
  await passThrough(incoming, services, upstream, isRenamed ? replaceModel(body, model) : undefined);
}

/** True if the model decides anything: the upstream, or the rights and budgets of a person. */
async function isModelNeeded(
  { principal, route }: Incoming,
  { config, spending }: Services,
): Promise<boolean> {
  if (principal.person || (await spending.state.isInUse())) return true;
  return config().upstreams.some(
    ({ apis, prefix, models }) => (prefix || models) && apis.includes(route.api),
  );
}

/** The endpoint that describes one model, and all of Google's that name one. */
const MODEL_PATH = /^(?:\/openai)?\/models\/(.+)$/;
const GOOGLE_MODEL_PATH = /\/(?:models|tunedModels)\/([^/:]+)/;

/** The model that a path names. */
function findPathModel(route: Incoming["route"]): string | undefined {
  if (route.type !== "models" && route.model !== undefined) return route.model;
  if (route.type !== "pass") return undefined;
  const found = (route.api === "google" ? GOOGLE_MODEL_PATH : MODEL_PATH).exec(route.path)?.[1];
  return found === undefined ? undefined : decodeSegment(found);
}

interface NamedModels {
  readonly model: string | undefined;
  /** Models in other fields. */
  readonly others: readonly string[];
}

/** The models that a body names; only the short fields of a large body are parsed. */
async function readModels(body: Buffer): Promise<NamedModels> {
  const found = new Set<string>();
  let model: unknown;
  try {
    if (body.length >= LIFT_FROM_BYTES) {
      const { fields, bytes } = await new Turns().finish(oddFieldSteps(body));
      for (const [name, range] of fields) {
        if (range.to - range.from >= LIFT_FROM_BYTES) continue;
        const value = parseRange(bytes, range);
        if (name === "model") model = value;
        collectModels({ [name]: value }, found);
      }
    } else if (body.length > 0) {
      const value = JSON.parse(body.toString("utf8"));
      model = Object(value).model;
      collectModels(value, found);
    }
  } catch {
    // A body without readable fields names no model.
  }
  if (typeof model !== "string") return { model: undefined, others: [...found] };
  found.delete(model);
  return { model, others: [...found] };
}

/**
 * Forwards a request for OpenAI's own compaction unchanged, except for the model's name, and records its usage in the
 * conversation that it compacts. Returns false for an odd body that only the provider can judge.
 */
async function compactResponses(incoming: Incoming, services: Services): Promise<boolean> {
  const request = await readRequest(incoming, services);
  if (!request) return false;
  const target = chooseTarget(request, incoming, services);
  const { upstream, model, clientModel } = target;
  const findNamed = () => findNamedModels(request);
  checkTargetAllowed(incoming.principal, target, findNamed);
  await incoming.spending?.checkUnmeasured({ project: undefined, models: [model, ...findNamed()] });
  await checkReferenceAccess(incoming, services, upstream);
  const changed = model === clientModel ? undefined : replaceModel(incoming.body, model);
  const { response, raw, signal, trace } = incoming;
  const answer = await sendRequest(incoming, services, {
    upstream,
    body: changed ?? [raw],
    isBodyChanged: changed !== undefined,
  });
  trace.status = answer.status;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tap = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_RECORDED_BYTES) chunks.push(Buffer.from(chunk));
    else chunks.length = 0;
  };
  const { idleMs } = services.config().limits;
  const startedAt = trace.startedMs;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt, tap });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
  if (answer.status === 200 && relayed.failure === undefined && chunks.length > 0)
    await record(request, target, incoming, services, Buffer.concat(chunks).toString("utf8")).catch((error) =>
      services.onStoreFailure(error),
    );
  return true;
}

/** Stores a note for people and the usage of a compaction; the client has its reply already. */
async function record(
  request: ParsedRequest,
  { model }: Target,
  incoming: Incoming,
  services: Services,
  text: string,
): Promise<void> {
  const reply = toObject(JSON.parse(text));
  if (!reply) return;
  const { trace } = incoming;
  const { thread } = await findThread(request, incoming, services);
  try {
    const { session } = thread;
    trace.session = session.id;
    trace.kind = thread.kind;
    const [before, after] = [request.messages.cut.elements.length, toArray(reply.output).length];
    const id = typeof reply.id === "string" ? reply.id : undefined;
    await session.note(
      `The provider compacted the conversation for the client: ${before} items became ${after}${id === undefined ? "" : ` (${id})`}. The log keeps all messages.`,
    );
    const usage = getWire("openai-responses").parseUsage(reply.usage);
    if (!usage) return;
    trace.usage = usage;
    await session.window({ model }).report(usage, id === undefined ? {} : { request: id });
  } finally {
    thread.progress.recordEnd(true);
  }
}

/**
 * Lists the models that the person may use: those of a single upstream as it reports them, those of several in one list.
 */
async function listModels(incoming: Incoming, services: Services): Promise<void> {
  const { route, response, trace, principal } = incoming;
  const isAnthropic = route.api === "anthropic";
  const { models: allowed, upstreams: allowedUpstreams } = principal.person ?? {};
  const speaking = services
    .config()
    .upstreams.filter(({ apis }) => apis.some((api) => (api === "anthropic") === isAnthropic))
    .filter(({ name }) => allowedUpstreams?.includes(name) ?? true);
  const [first, ...others] = speaking;
  if (first && others.length === 0)
    return allowed && incoming.request.method !== "HEAD"
      ? listAllowed(incoming, services, first, allowed)
      : passThrough(incoming, services, first);
  const lists = await Promise.all(speaking.map((upstream) => fetchModels(incoming, services, upstream)));
  const data = lists.flat();
  const body = isAnthropic ? { data, has_more: false, ...findCursors(data) } : { object: "list", data };
  const text = JSON.stringify(body);
  trace.status = 200;
  trace.ending = "complete";
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}

/** Relays the list of an upstream without the models that the person may not use, in the form of the upstream. */
async function listAllowed(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
  allowed: readonly string[],
): Promise<void> {
  const { response, signal, trace } = incoming;
  const answer = await sendRequest(incoming, services, { upstream, body: undefined, isBodyChanged: false });
  const { idleMs } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs, signal });
  const isList = answer.status === 200 && decoded !== undefined;
  const changed = isList
    ? filterModelList(decoded.toString("utf8"), allowed, upstream.prefix ?? "")
    : undefined;
  trace.status = answer.status;
  trace.ending = "complete";
  sendWholeBody(response, answer, raw, changed);
}

/** The models of one upstream, with the prefix by which the gateway selects it; empty if it cannot list them. */
async function fetchModels(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
): Promise<readonly WireObject[]> {
  const { prefix = "" } = upstream;
  try {
    const answer = await sendRequest(incoming, services, { upstream, body: undefined, isBodyChanged: true });
    const { idleMs } = services.config().limits;
    const { decoded } = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs, signal: incoming.signal });
    const text = decoded?.toString("utf8") ?? "";
    const allowed = incoming.principal.person?.models;
    const { data } = JSON.parse((allowed && filterModelList(text, allowed, prefix)) ?? text);
    if (answer.status !== 200 || !Array.isArray(data)) return [];
    return data.map((model: WireObject) => ({ ...model, id: `${prefix}${model.id}` }));
  } catch {
    return [];
  }
}

/**
 * A provider's list of models without those that a person may not use; undefined if nothing is removed or the body is
 * no list. A body with more pages keeps the cursors of the provider, which name the place where the next page begins.
 */
function filterModelList(text: string, allowed: readonly string[], prefix: string): string | undefined {
  let body: WireObject;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const field = LIST_FIELDS.find((name) => Array.isArray(Object(body)[name]));
  if (field === undefined) return undefined;
  const all = body[field] as readonly unknown[];
  const kept = all.filter((model) => isAllowed(model, allowed, prefix));
  if (kept.length === all.length) return undefined;
  const cursors = "first_id" in body && body.has_more !== true ? findCursors(kept) : {};
  return JSON.stringify({ ...body, [field]: kept, ...cursors });
}

/** The ids of the first and the last model of a list, in the form of Anthropic. */
function findCursors(models: readonly unknown[]) {
  const idOf = (model: unknown) => Object(model).id ?? null;
  return { first_id: idOf(models[0]), last_id: idOf(models.at(-1)) };
}

/** A model without a name of a known form cannot be asked for by name either. */
function isAllowed(model: unknown, allowed: readonly string[], prefix: string): boolean {
  const name = NAME_FIELDS.map((field) => Object(model)[field]).find((value) => typeof value === "string");
  if (name === undefined) return false;
  const plain = name.replace(/^models\//, "");
  return mayUseModel(allowed, [name, plain, `${prefix}${plain}`]);
}

/** Forwards a request unchanged, or `changed` in its place, and relays the response; neither is parsed. */
async function passThrough(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
  changed?: readonly Uint8Array[],
): Promise<void> {
  const { raw, request } = incoming;
  const hasBody = raw.length > 0 || request.headers["content-length"] !== undefined;
  const answer = await sendRequest(incoming, services, {
    upstream,
    body: changed ?? (hasBody ? [raw] : undefined),
    isBodyChanged: changed !== undefined,
  });
  const { response, signal, trace } = incoming;
  trace.status = answer.status;
  const { idleMs } = services.config().limits;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt: trace.startedMs });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
}

/** A body with another model name and no other change; undefined if the field cannot be located. */
function replaceModel(body: Buffer, model: string | undefined): readonly Uint8Array[] | undefined {
  try {
    return buildOutgoingBody(
      { cut: cutBody(body, "") },
      { pieces: undefined, fields: new Map([["model", model]]) },
    );
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}
