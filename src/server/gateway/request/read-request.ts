import type { MessageInput } from "../../../kernel/index.ts";
import { Turns } from "../../../model/base/turns.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { DecodedMessage, Wire, WireObject } from "../../../wire/wire.ts";
import { getEndpointWire } from "../../../wire/wires.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import {
  BodyError,
  type BodyFacts,
  type ByteRange,
  type CutBody,
  cutBody,
  cutSteps,
  OddBodyError,
  parseRange,
  type RequestFields,
} from "./cut-body.ts";
import { LIFT_FROM_BYTES, type Lifted, type LiftedValue, lift } from "./lift.ts";
import { type LiftedMessage, liftedMessage, withRedactedBlobs } from "./lifted-message.ts";
import type { ReferencedItems } from "./referenced-items.ts";
import { readBodyFacts, readRequestFields } from "./request-fields.ts";
import {
  elementOf,
  findSharedMessages,
  LazyMessage,
  type MessageReading,
  parseElement,
  type RequestMessage,
  type RequestMessages,
  readMessages,
} from "./request-messages.ts";
import type { SeenBodies } from "./seen-bodies.ts";

/** A request, parsed as far as needed. */
export interface ParsedRequest {
  readonly api: Wire;
  readonly messages: RequestMessages;
  readonly fields: RequestFields;
  readonly facts: BodyFacts;
}

/** The services that reading a request needs. */
interface ParseServices {
  readonly config: () => GatewayConfig;
  readonly bodies: SeenBodies;
  readonly items: ReferencedItems;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored?: (messages: readonly MessageInput[], signal?: AbortSignal) => Promise<void>;
}

/** Bodies below this size are read at once; larger ones let other requests continue in between. */
const SMALL_BYTES = 256 * 1_024;

/**
 * Reads the body of a request and prepares its new messages for the log; undefined for an odd body that only the
 * provider can judge. Throws `FaultError` if the API does not accept it.
 */
export async function readRequest(
  incoming: Incoming,
  services: Required<ParseServices>,
): Promise<ParsedRequest | undefined> {
  const { route, body, principal, signal, trace } = incoming;
  const missing = new Set<string>();
  const api = getEndpointWire(route.api, route.path);
  try {
    let request = await parseRequest(api, body, principal.id, services, missing);
    // Items that it refers to may be in the log.
    if (missing.size > 0 && (await services.items.load(principal, missing)))
      request = await parseRequest(api, body, principal.id, services);
    if (services.config().redact)
      await services.prepareStored(
        request.messages.list.flatMap(({ raw }) => raw ?? []),
        signal,
      );
    // The path may say more about a request than its body.
    const { model, isStreamed = request.fields.isStreamed } = route.type === "api" ? route : {};
    trace.isStreamed = isStreamed;
    return model === undefined ? request : { ...request, fields: { ...request.fields, model, isStreamed } };
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** Parses a body; adds the ids of unknown items to `missing`. Throws `FaultError` if the API does not accept it, `OddBodyError` if only the provider can decide. */
export async function parseRequest(
  api: Wire,
  body: Buffer,
  principal: string,
  services: ParseServices,
  missing = new Set<string>(),
): Promise<ParsedRequest> {
  const { bodies, items, config } = services;
  const owner = `${principal} ${api.name}`;
  const list = api.messagesField;
  const turns = body.length < SMALL_BYTES ? undefined : new Turns();
  const listAlike = bodies.listAlike.bind(bodies, owner, body);
  const referenced = (id: string) => {
    const item = items.find(principal, id);
    if (!item) missing.add(id);
    return item;
  };
  try {
    const known = bodies.frames.find(owner, body);
    const plain = turns
      ? await turns.finish(cutSteps(body, list, listAlike, known))
      : cutBody(body, list, listAlike, known);
    const largeFields = turns && (await readLargeFields(api, plain, turns));
    // A frame with large fields would take the place of many.
    const frame = largeFields?.size ? undefined : (plain.frame ?? bodies.frames.keep(owner, plain, list));
    const cut: CutBody = { ...plain, frame, largeFields, referenced };
    const fields = readRequestFields(api, cut);
    const reading: MessageReading = {
      api,
      stored: services.stored,
      // In the middle of a conversation, instructions are ordinary messages.
      hasNoLead: fields.isChained,
      isRedacting: () => config().redact === true,
      prepareStored: services.prepareStored,
    };
    let messages: RequestMessages;
    if (cut.listFrom === undefined)
      messages = turns ? await readPlainInput(reading, cut, turns) : readSmallInput(reading, cut);
    else if (!turns || body.length < LIFT_FROM_BYTES) messages = readMessages(reading, cut);
    else messages = await readInTurns(reading, cut, turns);
    return { api, messages, fields, facts: readBodyFacts(api, messages) };
  } catch (error) {
    throw toBodyFault(error, api, body);
  }
}

/** The fault for a body that an API does not accept; any other error stays as it is. */
function toBodyFault(error: unknown, api: Wire, body: Buffer): unknown {
  if (!(error instanceof BodyError) || isValidJson(error, body)) return error;
  const message = `The body is not what ${api.name} takes: ${error.message}.`;
  return new FaultError({ status: 400, kind: "invalid_request", message }, error);
}

/** Parses large instruction and tool fields without their large values. */
async function readLargeFields(
  { leadFields }: Wire,
  { bytes, fields }: CutBody,
  turns: Turns,
): Promise<ReadonlyMap<string, unknown>> {
  const read = new Map<string, unknown>();
  for (const name of [...leadFields, "tools", "functions"]) {
    const range = fields.get(name);
    if (range && isLargeRange(range)) read.set(name, await readLargeField(bytes, range, turns));
  }
  return read;
}

/** Parses a large field without its large values; undefined if even its small values are too large. */
async function readLargeField(bytes: Buffer, range: ByteRange, turns: Turns): Promise<unknown> {
  try {
    return (await lift(bytes, range, turns, Number.POSITIVE_INFINITY)).value;
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

function isLargeRange({ from, to }: ByteRange): boolean {
  return to - from >= LIFT_FROM_BYTES;
}

/** True for an odd body that is valid JSON; a large one is not checked and left to the provider. */
function isValidJson(error: BodyError, body: Buffer): boolean {
  if (!(error instanceof OddBodyError)) return false;
  if (body.length >= LIFT_FROM_BYTES) return true;
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

/** Reads a body without a list: the Responses API also accepts plain text. */
async function readPlainInput(reading: MessageReading, cut: CutBody, turns: Turns): Promise<RequestMessages> {
  const range = cut.fields.get(reading.api.messagesField);
  if (!range || !isLargeRange(range)) return readSmallInput(reading, cut);
  const { value: text, values } = await lift(cut.bytes, range, turns);
  if (typeof text !== "string") return { cut, lead: 0, list: [] };
  if (values.size === 0) return toPlainMessages(reading, cut, text);
  const source = { body: cut.bytes, values, format: reading.api.name, turns };
  const fields = liftedFields(reading, await liftedMessage({ role: "user", text }, source));
  return { cut, lead: 0, list: [{ ...PLAIN_PLACE, ...fields }] };
}

function readSmallInput(reading: MessageReading, cut: CutBody): RequestMessages {
  const range = cut.fields.get(reading.api.messagesField);
  const text = range && parseRange(cut.bytes, range);
  return typeof text === "string" ? toPlainMessages(reading, cut, text) : { cut, lead: 0, list: [] };
}

const PLAIN_PLACE = { role: "user", index: 0, from: 0, to: 0 } as const;

function toPlainMessages({ stored }: MessageReading, cut: CutBody, text: string): RequestMessages {
  const input: MessageInput = { role: "user", text };
  const key = buildCanonicalKey(input);
  return { cut, lead: 0, list: [{ ...PLAIN_PLACE, raw: input, input: () => stored(input, key), key }] };
}

/** Maximum number and bytes of elements that are parsed before they are decoded. */
const RUN_ELEMENTS = 256;
const RUN_BYTES = 1_024 * 1_024;

interface Element {
  readonly value: WireObject;
  readonly lifted: Lifted | undefined;
}

/**
 * Reads the messages of a large body like `readMessages`, but a few elements at a time. Only the keys of ordinary
 * messages are kept, not their parsed content; large values stay in the body.
 */
async function readInTurns(reading: MessageReading, cut: CutBody, turns: Turns): Promise<RequestMessages> {
  const { api } = reading;
  const known = reading.hasNoLead ? undefined : findSharedMessages(api, cut);
  const list: RequestMessage[] = [];
  for (const message of known?.list ?? []) list.push(new LazyMessage(reading, cut, message));
  let lead = known?.lead ?? 0;
  const leadElements: WireObject[] = [];
  let isLeading = !known && !reading.hasNoLead;
  let at = list.at(-1)?.to ?? lead;
  let run: Element[] = [];
  /** Size of the next read; doubled while one message extends past the whole run. */
  let more = { elements: RUN_ELEMENTS, bytes: RUN_BYTES };
  const end = cut.elements.length;
  while (at < end) {
    for (let { elements, bytes } = more; elements > 0 && bytes > 0 && at + run.length < end; elements--) {
      const { from, to } = cut.elements[at + run.length] as ByteRange;
      run.push(await elementIn(cut, at + run.length, turns));
      bytes -= to - from;
      await turns.rest();
    }
    if (isLeading) {
      const own = run.findIndex(({ value }) => !api.isLead(value));
      lead += own < 0 ? run.length : own;
      isLeading = own < 0;
      for (const { value } of run.splice(0, lead - at)) leadElements.push(value);
      at = lead;
      if (isLeading) continue;
    }
    const isLast = at + run.length >= end;
    const batch = decoded(api, run, isLast);
    // The only message may continue after the run, so it is decoded again with more elements.
    if (batch.next === 0 && !isLast) {
      more = { elements: 2 * more.elements, bytes: 2 * more.bytes };
      continue;
    }
    for (const one of batch.messages)
      list.push(await messageOf(reading, cut, { ...one, run, at, index: list.length }, turns));
    run = run.slice(batch.next);
    at += batch.next;
    more = { elements: RUN_ELEMENTS, bytes: RUN_BYTES };
  }
  return { cut, lead, list, ...(leadElements.length > 0 && { leadElements }) };
}

/** Decodes a run. The next run begins with the last message, which may continue. */
function decoded(
  api: Wire,
  run: readonly Element[],
  isLast: boolean,
): { readonly messages: readonly DecodedMessage[]; readonly next: number } {
  const messages = api.decode(run.map(({ value }) => value));
  if (isLast) return { messages, next: run.length };
  const last = messages.at(-1);
  return last ? { messages: messages.slice(0, -1), next: last.from } : { messages: [], next: run.length };
}

async function elementIn(cut: CutBody, index: number, turns: Turns): Promise<Element> {
  const range = cut.elements[index] as ByteRange;
  if (range.to - range.from < LIFT_FROM_BYTES) return { value: parseElement(cut, index), lifted: undefined };
  const lifted = await lift(cut.bytes, range, turns);
  return { value: elementOf(lifted.value, cut, index), lifted };
}

interface Decoded extends DecodedMessage {
  readonly run: readonly Element[];
  /** Index of the run's first element. */
  readonly at: number;
  /** Index among the messages. */
  readonly index: number;
}

async function messageOf(
  reading: MessageReading,
  cut: CutBody,
  { input, from, to, run, at, index }: Decoded,
  turns: Turns,
): Promise<RequestMessage> {
  await turns.rest();
  const place = { role: input.role, index, from: at + from, to: at + to };
  const lifted = run.slice(from, to).flatMap((element) => element.lifted ?? []);
  if (lifted.every(({ values }) => values.size === 0)) {
    const key = buildCanonicalKey(input);
    // Redaction needs the content before the message is stored, so that a worker can do it.
    if (reading.isRedacting?.())
      return { ...place, key, raw: input, input: () => reading.stored(input, key) };
    return new LazyMessage(reading, cut, { ...place, key });
  }
  const values = new Map<string, LiftedValue>();
  for (const one of lifted) for (const [mark, value] of one.values) values.set(mark, value);
  const source = { body: cut.bytes, values, format: reading.api.name, turns };
  return { ...place, ...liftedFields(reading, await liftedMessage(input, source)) };
}

/** The content fields of a `RequestMessage` with large values; its blobs are redacted if redaction is on. */
function liftedFields(
  { stored, prepareStored, isRedacting }: MessageReading,
  { key, input, brief }: LiftedMessage,
): Pick<RequestMessage, "key" | "input" | "brief"> {
  const storedInput = (): MessageInput => {
    if (!isRedacting?.()) return stored(input, key);
    const clean = withRedactedBlobs(input, async (part) => {
      const message: MessageInput = { role: "user", parts: [part] };
      await prepareStored?.([message]);
      return stored(message, key).parts?.[0] ?? part;
    });
    return stored(clean, key);
  };
  return { key, input: storedInput, brief: () => stored(brief, key) };
}
