import type { EntryId, MessageInput } from "../../index.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { NameReply } from "../call/reply-recorder.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { isStoredByProvider } from "../request/chain.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { parseElement } from "../request/request-messages.ts";
import type { ResponsePlace } from "../thread/response-ids.ts";

/** Records the id of a call's reply, so that a request can continue from it; undefined if none can. */
export function createReplyNamer({
  incoming,
  services,
  request,
  thread,
  call,
}: Exchange): NameReply | undefined {
  const { api, chain } = call.request;
  const { all } = request.fields;
  const { last } = call;
  if (!isStoredByProvider(api, all)) return undefined;
  const principal = incoming.principal.id;
  const isStored = canBeReferenced(request) || chain !== undefined;
  const lead = chain ? [] : readLeadMessages(request, services.stored);
  const key = lead.map(buildCanonicalKey).join(" ");
  const storeItems = async (entry: Promise<EntryId | undefined>, items: readonly WireObject[]) => {
    try {
      const id = await entry;
      if (id !== undefined) await services.storedItems.add(principal, items, thread.session.id, id);
    } catch (error) {
      services.onStoreFailure(error);
    }
  };
  return (response, entry, items) => {
    if (all.store !== false) services.items.add(principal, items);
    const isNamed = all.store !== false && items.length > 0;
    const itemsStored = isNamed ? storeItems(entry, items) : undefined;
    const known = thread.sent.storedLead;
    const isKnown = known?.key === key;
    const leadResponse = chain
      ? chain.lead
      : lead.length === 0
        ? undefined
        : isKnown
          ? known.response
          : response;
    if (leadResponse === response && isStored) thread.sent.storedLead = { key, response };
    const isLeadStored = leadResponse !== response || isStored;
    const place = entry.then((id): ResponsePlace | undefined => {
      const afterEntry = id ?? last;
      if (afterEntry === undefined) return undefined;
      return {
        session: thread.session.id,
        entry: afterEntry,
        isWhole: id !== undefined && isLeadStored && (chain?.isWhole ?? true) === true,
        ...(leadResponse !== undefined && { lead: leadResponse }),
      };
    });
    const placeStored = services.responses.add(principal, response, {
      place,
      isStored,
      ...(leadResponse === response && { lead }),
    });
    return Promise.all([placeStored, itemsStored]).then(() => undefined);
  };
}

/** False for a client that stores nothing and repeats all messages itself, which never refers to a reply. */
function canBeReferenced({ messages, fields }: ParsedRequest): boolean {
  return fields.all.store !== false || !messages.list.some(({ role }) => role === "assistant");
}

/** Instructions among the items of a request: not part of the messages, but a chain continues from them. */
function readLeadMessages(
  { api, messages: { cut, lead } }: ParsedRequest,
  stored: Exchange["services"]["stored"],
): readonly MessageInput[] {
  const elements = Array.from({ length: lead }, (_, index) => parseElement(cut, index));
  return api.decode(elements).map(({ input }) => stored(input, buildCanonicalKey(input)));
}
