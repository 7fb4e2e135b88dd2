import { Turns } from "../../base/turns.ts";
import type { MessageInput } from "../../index.ts";
import type { Wire, WireObject } from "../../wire/wire.ts";
import { getWire } from "../../wire/wires.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { readBodyFacts } from "./body-facts.ts";
import type { BodyFrame } from "./body-frame.ts";
import type { BodyFacts, RequestFields } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";
import { isChained } from "./chain.ts";
import { BodyError, type CutBody, cutBody, cutSteps, OddBodyError, parseRange } from "./cut-body.ts";
import { LIFT_FROM_BYTES, lift } from "./lift.ts";
import { liftedMessage } from "./lifted-message.ts";
import { liftedFields, readInTurns } from "./read-in-turns.ts";
import type { RecentBodies } from "./recent-bodies.ts";
import type { ReferencedItems } from "./referenced-items.ts";
import { readRequestFields } from "./request-fields.ts";
import {
  type KnownMessage,
  type MessageReading,
  type RequestMessages,
  readMessages,
} from "./request-messages.ts";

/** A request, parsed as far as needed. */
export interface ParsedRequest {
  readonly api: Wire;
  readonly messages: RequestMessages;
  readonly fields: RequestFields;
  readonly facts: BodyFacts;
}

/** Services for reading requests. */
export interface RequestServices {
  readonly config: () => GatewayConfig;
  readonly bodies: RecentBodies;
  readonly items: ReferencedItems;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (
    messages: readonly MessageInput[],
    signal?: AbortSignal,
  ) => Promise<void> | undefined;
}

type ParseServices = Omit<RequestServices, "prepareStored"> & Partial<RequestServices>;

/** Bodies below this size are read at once; larger ones let other requests go on in between. */
const SMALL_BYTES = 256 * 1_024;

/**
 * Reads the body of a request and prepares its new messages for the log; undefined for an odd body that only the
 * provider can judge. Throws `FaultError` if the API does not accept it.
 */
export function readRequest(
  incoming: Incoming,
  services: RequestServices,
): ParsedRequest | undefined | Promise<ParsedRequest | undefined> {
  const { route, body, principal, trace } = incoming;
  if (body.length >= SMALL_BYTES) return readLargeRequest(incoming, services);
  const missing = new Set<string>();
  const request = toUndefinedIfOdd(() =>
    parseSmallRequest(getWire(route.api), body, principal.id, services, missing),
  );
  if (!request) return undefined;
  if (missing.size > 0 || services.config().redact)
    return completeRequest(request, missing, incoming, services);
  trace.isStreamed = request.fields.isStreamed;
  return request;
}

async function readLargeRequest(
  incoming: Incoming,
  services: RequestServices,
): Promise<ParsedRequest | undefined> {
  const { route, body, principal } = incoming;
  const missing = new Set<string>();
  try {
    const request = await parseRequest(getWire(route.api), body, principal.id, services, missing);
    return await completeRequest(request, missing, incoming, services);
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** Parses a request once more if items that it refers to are in the log, and redacts its new messages. */
async function completeRequest(
  parsed: ParsedRequest,
  missing: ReadonlySet<string>,
  { body, principal, signal, trace }: Incoming,
  services: RequestServices,
): Promise<ParsedRequest> {
  const isLoaded = missing.size > 0 && (await services.items.load(principal, missing));
  const request = isLoaded ? await parseRequest(parsed.api, body, principal.id, services) : parsed;
  const fresh = request.messages.list.flatMap(({ raw }) => raw ?? []);
  await services.prepareStored(fresh, signal);
  trace.isStreamed = request.fields.isStreamed;
  return request;
}

function toUndefinedIfOdd<T>(work: () => T): T | undefined {
  try {
    return work();
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
  if (body.length < SMALL_BYTES) return parseSmallRequest(api, body, principal, services, missing);
  const turns = new Turns();
  const parse = new BodyParse(api, body, principal, services, missing);
  try {
    const plain = await turns.finish(cutSteps(body, api.messagesField, parse.findLike, parse.frame));
    const cut = parse.complete(plain, await readLargeFields(api, plain, turns));
    const fields = readRequestFields(api, cut);
    if (cut.listFrom === undefined) {
      const messages = await readPlainInput(parse.reading, cut, turns);
      return { api, messages, fields, facts: readBodyFacts(api, messages) };
    }
    const { reading, earlier } = parse.readingFor(fields);
    const isLarge = body.length >= LIFT_FROM_BYTES;
    const messages = isLarge
      ? await readInTurns(reading, cut, turns, earlier)
      : readMessages(reading, cut, earlier);
    return { api, messages, fields, facts: readBodyFacts(api, messages) };
  } catch (error) {
    throw toBodyFault(error, api, body);
  }
}

/** Like `parseRequest`, for a body that takes little time. */
function parseSmallRequest(
  api: Wire,
  body: Buffer,
  principal: string,
  services: ParseServices,
  missing: Set<string>,
): ParsedRequest {
  const parse = new BodyParse(api, body, principal, services, missing);
  try {
    const cut = parse.complete(cutBody(body, api.messagesField, parse.findLike, parse.frame));
    const fields = readRequestFields(api, cut);
    const { reading, earlier } = parse.readingFor(fields);
    const messages =
      cut.listFrom === undefined ? readSmallInput(reading, cut) : readMessages(reading, cut, earlier);
    return { api, messages, fields, facts: readBodyFacts(api, messages) };
  } catch (error) {
    throw toBodyFault(error, api, body);
  }
}

/** One body on its way to a `ParsedRequest`: earlier bodies that it resembles, and the items that it refers to. */
class BodyParse {
  readonly reading: MessageReading;
  readonly frame: BodyFrame | undefined;
  readonly findLike: (bytes: Buffer, from: number) => CutBody | undefined;
  readonly #owner: string;
  readonly #bodies: RecentBodies;
  readonly #referenced: (id: string) => WireObject | undefined;
  #earlier: RequestMessages<KnownMessage> | undefined;

  constructor(
    api: Wire,
    body: Buffer,
    principal: string,
    { bodies, items, stored, prepareStored, config }: ParseServices,
    missing: Set<string>,
  ) {
    this.#owner = `${principal} ${api.name}`;
    this.#bodies = bodies;
    this.frame = bodies.frames.find(this.#owner, body);
    this.reading = {
      api,
      stored,
      isRedacting: () => config().redact,
      ...(prepareStored && { prepareStored }),
    };
    this.findLike = (bytes, from) => {
      this.#earlier = bodies.find(this.#owner, bytes, from);
      return this.#earlier?.cut;
    };
    this.#referenced = (id) => {
      const item = items.find(principal, id);
      if (!item) missing.add(id);
      return item;
    };
  }

  /** The body with its frame, which is kept if it is new. */
  complete(cut: CutBody, largeFields?: ReadonlyMap<string, unknown>): CutBody {
    const isLarge = largeFields !== undefined && largeFields.size > 0;
    const frame = isLarge
      ? undefined
      : (cut.frame ?? this.#bodies.frames.keep(this.#owner, cut, this.reading.api.messagesField));
    return { ...cut, frame, largeFields, referenced: this.#referenced };
  }

  /** The settings for reading its messages. In the middle of a conversation, instructions are ordinary messages. */
  readingFor({ all }: RequestFields): {
    readonly reading: MessageReading;
    readonly earlier: RequestMessages<KnownMessage> | undefined;
  } {
    const { reading } = this;
    return isChained(reading.api, all)
      ? { reading: { ...reading, hasNoLead: true }, earlier: undefined }
      : { reading, earlier: this.#earlier };
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

/** Parses a large field without its large values; undefined if its small values alone are too large. */
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
