import { Turns } from "../../base/turns.ts";
import type { MessageInput } from "../../index.ts";
import type { Wire } from "../../wire/wire.ts";
import { getWire } from "../../wire/wires.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import { readBodyFacts } from "./body-facts.ts";
import type { BodyFacts } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";
import { isChained } from "./chain.ts";
import { BodyError, type CutBody, cutSteps, OddBodyError, parseRange } from "./cut-body.ts";
import { LIFT_FROM_BYTES, lift } from "./lift.ts";
import { liftedMessage } from "./lifted-message.ts";
import { liftedFields, readInTurns } from "./read-in-turns.ts";
import type { RecentBodies } from "./recent-bodies.ts";
import type { ReferencedItems } from "./referenced-items.ts";
import { parseRequestFields, type RequestFields } from "./request-fields.ts";
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
  readonly prepareStored: (messages: readonly MessageInput[], signal?: AbortSignal) => Promise<void>;
}

type ParseServices = Omit<RequestServices, "prepareStored"> & Partial<RequestServices>;

/**
 * Reads the body of a request and prepares its new messages for the log; undefined for an odd body that only the
 * provider can judge. Throws `FaultError` if the API does not accept it.
 */
export async function readRequest(
  { route, body, principal, signal, trace }: Incoming,
  services: RequestServices,
): Promise<ParsedRequest | undefined> {
  try {
    const request = await parseWithItems(getWire(route.api), body, principal, services);
    const fresh = request.messages.list.flatMap(({ raw }) => raw ?? []);
    await services.prepareStored(fresh, signal);
    trace.isStreamed = request.fields.isStreamed;
    return request;
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** Parses a body, once more if it refers to items that are in the log and were not in memory. */
async function parseWithItems(
  api: Wire,
  body: Buffer,
  principal: PersonIds,
  services: RequestServices,
): Promise<ParsedRequest> {
  const missing = new Set<string>();
  const request = await parseRequest(api, body, principal.id, services, missing);
  if (missing.size === 0 || !(await services.items.load(principal, missing))) return request;
  return parseRequest(api, body, principal.id, services);
}

/** Parses a body; adds the ids of unknown items to `missing`. Throws `FaultError` if the API does not accept it, `OddBodyError` if only the provider can decide. */
export async function parseRequest(
  api: Wire,
  body: Buffer,
  principal: string,
  { bodies, items, stored, prepareStored, config }: ParseServices,
  missing = new Set<string>(),
): Promise<ParsedRequest> {
  const reading: MessageReading = {
    api,
    stored,
    isRedacting: () => config().redact,
    ...(prepareStored && { prepareStored }),
  };
  const turns = new Turns();
  const who = `${principal} ${api.name}`;
  let earlier: RequestMessages<KnownMessage> | undefined;
  try {
    const plain = await turns.finish(
      cutSteps(body, api.messagesField, (bytes, from) => {
        earlier = bodies.find(who, bytes, from);
        return earlier?.cut;
      }),
    );
    const largeFields = await readLargeFields(api, plain, turns);
    const referenced = (id: string) => {
      const item = items.find(principal, id);
      if (!item) missing.add(id);
      return item;
    };
    const cut: CutBody = { ...plain, largeFields, referenced };
    const fields = parseRequestFields(api, cut);
    // In the middle of a conversation, instructions are ordinary messages.
    const isMore = isChained(api, fields.all);
    const own = { ...reading, hasNoLead: isMore };
    const before = isMore ? undefined : earlier;
    const isLarge = body.length >= LIFT_FROM_BYTES;
    if (cut.listFrom === undefined) {
      const messages = await readPlainInput(reading, cut, turns);
      return { api, messages, fields, facts: readBodyFacts(api, messages) };
    }
    const messages = isLarge ? await readInTurns(own, cut, turns, before) : readMessages(own, cut, before);
    return { api, messages, fields, facts: readBodyFacts(api, messages) };
  } catch (error) {
    if (!(error instanceof BodyError) || isValidJson(error, body)) throw error;
    const message = `The body is not what ${api.name} takes: ${error.message}.`;
    throw new FaultError({ status: 400, kind: "invalid_request", message }, error);
  }
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
  const lifted = range && isLargeRange(range) ? await lift(cut.bytes, range, turns) : undefined;
  const text = lifted ? lifted.value : range && parseRange(cut.bytes, range);
  if (typeof text !== "string") return { cut, lead: 0, list: [] };
  const place = { role: "user", index: 0, from: 0, to: 0 } as const;
  const input: MessageInput = { role: "user", text };
  if (lifted && lifted.values.size > 0) {
    const source = { body: cut.bytes, values: lifted.values, format: reading.api.name, turns };
    const fields = liftedFields(reading, await liftedMessage(input, source));
    return { cut, lead: 0, list: [{ ...place, ...fields }] };
  }
  const key = buildCanonicalKey(input);
  return { cut, lead: 0, list: [{ ...place, raw: input, input: () => reading.stored(input, key), key }] };
}
