import { Turns } from "../../base/turns.ts";
import type { MessageInput } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { FaultError } from "../api/fault-error.ts";
import type { Services } from "../exchange/services.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { type BodyFacts, readBodyFacts } from "./body-facts.ts";
import { isChained } from "./chain.ts";
import { BodyError, type ByteRange, type CutBody, cutSteps, OddBodyError, parseRange } from "./cut-body.ts";
import { LIFT_FROM_BYTES, lift } from "./lift.ts";
import { liftedMessage } from "./lifted-message.ts";
import { liftedFields, readInTurns } from "./read-in-turns.ts";
import { parseRequestFields, type RequestFields } from "./request-fields.ts";
import {
  type KnownMessage,
  type MessageReading,
  type RequestMessages,
  readMessages,
} from "./request-messages.ts";

/** A request, parsed as far as needed. */
export interface ParsedRequest {
  readonly messages: RequestMessages;
  readonly fields: RequestFields;
  readonly facts: BodyFacts;
}

type ReadParts = Pick<Services, "bodies" | "items" | "stored" | "config"> &
  Partial<Pick<Services, "prepareStored">>;

/** Reads a body. Throws `FaultError` if the API does not accept it, `OddBodyError` if only the provider can decide. */
export async function readRequest(
  api: Api,
  body: Buffer,
  principal: string,
  { bodies, items, stored, prepareStored, config }: ReadParts,
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
    const cut: CutBody = { ...plain, largeFields, referenced: (id) => items.find(principal, id) };
    const fields = parseRequestFields(api, cut);
    // In the middle of a conversation, instructions are ordinary messages.
    const isMore = isChained(api, fields.all);
    const own = { ...reading, hasNoLead: isMore };
    const before = isMore ? undefined : earlier;
    const isLarge = body.length >= LIFT_FROM_BYTES;
    if (cut.listFrom === undefined) {
      const messages = await readPlainInput(reading, cut, turns);
      return { messages, fields, facts: readBodyFacts(api, messages) };
    }
    const messages = isLarge ? await readInTurns(own, cut, turns, before) : readMessages(own, cut, before);
    return { messages, fields, facts: readBodyFacts(api, messages) };
  } catch (error) {
    if (!(error instanceof BodyError) || isValidJson(error, body)) throw error;
    const message = `The body is not what ${api.name} takes: ${error.message}.`;
    throw new FaultError({ status: 400, kind: "invalid_request", message }, error);
  }
}

/** Parses large instruction and tool fields without their large values. */
async function readLargeFields(
  { leadFields }: Api,
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
