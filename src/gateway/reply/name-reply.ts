import type { MessageInput } from "../../index.ts";
import type { Api } from "../api/api.ts";
import type { NameReply } from "../call/reply-recorder.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { Services } from "../exchange/services.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { isStoredByProvider } from "../request/chain.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { parseElement } from "../request/request-messages.ts";
import type { ResponsePlace } from "../thread/response-place.ts";
import type { Thread } from "../thread/thread.ts";

/** Instructions of a request, and the response that they are stored with. */
interface StoredLead {
  readonly key: string;
  readonly response: string;
}

const keptLeads = new WeakMap<Thread, StoredLead>();

/** Records the id of a call's reply, so that a request can continue from it; undefined if none can. */
export function createReplyNamer(
  principal: string,
  { responses, items, stored }: Pick<Services, "responses" | "items" | "stored">,
  request: ParsedRequest,
  { request: callRequest, thread, last }: ThreadCall,
): NameReply | undefined {
  const { api, chain } = callRequest;
  if (!isStoredByProvider(api, request.fields.all)) return undefined;
  const isKept = canBeReferenced(request) || chain !== undefined;
  const lead = chain ? [] : readLeadMessages(api, request, stored);
  const key = lead.map(buildCanonicalKey).join(" ");
  return (response, entry, messages) => {
    if (request.fields.all.store !== false) items.add(principal, messages);
    const known = keptLeads.get(thread);
    const isKnown = known?.key === key;
    const keptWith = chain ? chain.lead : lead.length === 0 ? undefined : isKnown ? known.response : response;
    if (keptWith === response && isKept) keptLeads.set(thread, { key, response });
    const isLeadKept = keptWith !== response || isKept;
    const place = entry.then((id): ResponsePlace | undefined => {
      const afterEntry = id ?? last;
      if (afterEntry === undefined) return undefined;
      return {
        session: thread.session.id,
        threadKey: thread.threadKey,
        entry: afterEntry,
        isWhole: id !== undefined && isLeadKept && (chain?.isWhole ?? true) === true,
        ...(keptWith !== undefined && { lead: keptWith }),
      };
    });
    return responses.add(principal, response, { place, isKept, ...(keptWith === response && { lead }) });
  };
}

/** False for a client that stores nothing and repeats all messages itself, which never refers to a reply. */
function canBeReferenced({ messages, fields }: ParsedRequest): boolean {
  return fields.all.store !== false || !messages.list.some(({ role }) => role === "assistant");
}

/** Instructions among the items of a request: not part of the messages, but a chain continues from them. */
function readLeadMessages(
  api: Api,
  { messages: { cut, lead } }: ParsedRequest,
  stored: Services["stored"],
): readonly MessageInput[] {
  const elements = Array.from({ length: lead }, (_, index) => parseElement(cut, index));
  return api.decode(elements).map(({ input }) => stored(input, buildCanonicalKey(input)));
}
