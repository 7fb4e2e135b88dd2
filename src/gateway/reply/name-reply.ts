import type { MessageInput } from "../../index.ts";
import type { Api } from "../api/api.ts";
import type { NameReply } from "../call/reply-recorder.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { ParsedRequest } from "../exchange/read-request.ts";
import type { Services } from "../exchange/services.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { isStoredByProvider } from "../request/chain.ts";
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
  read: ParsedRequest,
  { request: asked, thread, last }: ThreadCall,
): NameReply | undefined {
  const { api, chain } = asked;
  if (!isStoredByProvider(api, read.fields.all)) return undefined;
  const isKept = canBeReferenced(read) || chain !== undefined;
  const lead = chain ? [] : readLeadMessages(api, read, stored);
  const key = lead.map(buildCanonicalKey).join(" ");
  return (response, entry, said) => {
    if (read.fields.all.store !== false) items.add(principal, said);
    const known = keptLeads.get(thread);
    const isKnown = known?.key === key;
    const keptWith = chain ? chain.lead : lead.length === 0 ? undefined : isKnown ? known.response : response;
    if (keptWith === response && isKept) keptLeads.set(thread, { key, response });
    const isLeadKept = keptWith !== response || isKept;
    const place = entry.then((id): ResponsePlace | undefined => {
      const behind = id ?? last;
      if (behind === undefined) return undefined;
      return {
        session: thread.session.id,
        home: thread.threadKey,
        entry: behind,
        isWhole: id !== undefined && isLeadKept && (chain?.isWhole ?? true) === true,
        ...(keptWith !== undefined && { lead: keptWith }),
      };
    });
    return responses.add(principal, response, { place, isKept, ...(keptWith === response && { lead }) });
  };
}

/** False for a client that stores nothing and repeats all messages itself, which never refers to a reply. */
function canBeReferenced({ said, fields }: ParsedRequest): boolean {
  return fields.all.store !== false || !said.messages.some(({ role }) => role === "assistant");
}

/** Instructions among the items of a request: not part of the messages, but a chain continues from them. */
function readLeadMessages(
  api: Api,
  { said: { cut, lead } }: ParsedRequest,
  stored: Services["stored"],
): readonly MessageInput[] {
  const elements = Array.from({ length: lead }, (_, index) => parseElement(cut, index));
  return api.decode(elements).map(({ input }) => stored(input, buildCanonicalKey(input)));
}
