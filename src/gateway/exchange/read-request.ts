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

/** A request, read as far as it has to be. */
export interface ReadRequest {
  readonly said: WireMessages;
  readonly fields: RequestFields;
  readonly facts: BodyFacts;
}

/** Reads a body. Throws `FaultError` if it is not what the API takes, `OddBodyError` if only the provider can tell. */
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
    // In the midst of a conversation nothing leads; instructions are said there like all else.
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

/** True for an odd body that is JSON for all that. */
function isOdd(error: BodyError, body: Buffer): boolean {
  if (!(error instanceof OddBodyError)) return false;
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

/** A body without a list: Responses take a plain text, too. */
function plainInput({ api, stored }: Reading, cut: CutBody): WireMessages {
  const range = cut.fields.get(api.messagesField);
  const text = range && parsed(cut.bytes, range);
  if (typeof text !== "string") return { cut, lead: 0, messages: [] };
  const input: MessageInput = { role: "user", text };
  const key = canonicalKey(input);
  return {
    cut,
    lead: 0,
    messages: [{ raw: input, input: () => stored(input, key), key, role: "user", index: 0, from: 0, to: 0 }],
  };
}
