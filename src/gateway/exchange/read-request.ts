import type { MessageInput } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { BodyError, type CutBody, cutBody, OddBodyError, parsed } from "../body/cut.ts";
import { type KnownMessage, type Reading, type WireMessages, wireMessages } from "../body/wire-message.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import { isChained } from "../thread/chain.ts";
import { type BodyFacts, bodyFacts } from "./body-facts.ts";
import { FaultError } from "./fault-error.ts";
import type { ExchangeParts } from "./parts.ts";
import { type RequestFields, requestFields } from "./request-fields.ts";

/** A request, parsed as far as needed. */
export interface ReadRequest {
  readonly said: WireMessages;
  readonly fields: RequestFields;
  readonly facts: BodyFacts;
}

/** Reads a body. Throws `FaultError` if it is not valid for the API, `OddBodyError` if only the provider can tell. */
export function readRequest(
  api: Api,
  body: Buffer,
  principal: string,
  { bodies, items, stored }: Pick<ExchangeParts, "bodies" | "items" | "stored">,
): ReadRequest {
  const reading = { api, stored };
  const who = `${principal} ${api.name}`;
  let earlier: WireMessages<KnownMessage> | undefined;
  try {
    const plain = cutBody(body, api.messagesField, (bytes, from) => {
      earlier = bodies.find(who, bytes, from);
      return earlier?.cut;
    });
    const cut: CutBody = { ...plain, referenced: (id) => items.find(principal, id) };
    const fields = requestFields(api, cut);
    // In the middle of a conversation, instructions are ordinary messages.
    const isMore = isChained(api, fields.all);
    const said =
      cut.listFrom === undefined
        ? plainInput(reading, cut)
        : wireMessages({ ...reading, hasNoLead: isMore }, cut, isMore ? undefined : earlier);
    return { said, fields, facts: bodyFacts(api, said) };
  } catch (error) {
    if (!(error instanceof BodyError) || isOdd(error, body)) throw error;
    const message = `The body is not what ${api.name} takes: ${error.message}.`;
    throw new FaultError({ status: 400, kind: "invalid_request", message }, error);
  }
}

/** True for an odd body that is nevertheless valid JSON. */
function isOdd(error: BodyError, body: Buffer): boolean {
  if (!(error instanceof OddBodyError)) return false;
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

/** Reads a body without a list: the Responses API also accepts plain text. */
function plainInput({ api, stored }: Reading, cut: CutBody): WireMessages {
  const range = cut.fields.get(api.messagesField);
  const text = range && parsed(cut.bytes, range);
  if (typeof text !== "string") return { cut, lead: 0, messages: [] };
  const input: MessageInput = { role: "user", text };
  const key = canonicalKey(input);
  return {
    cut,
    lead: 0,
    messages: [{ input: () => stored(input, key), key, role: "user", index: 0, from: 0, to: 0 }],
  };
}
