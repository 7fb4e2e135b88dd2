import type { MessageInput } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { elementAt } from "../body/wire-message.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import type { Call } from "../thread/call.ts";
import { isKeptThere } from "../thread/chain.ts";
import type { NameReply } from "../thread/recorder.ts";
import type { ResponsePlace } from "../thread/response-place.ts";
import type { Thread } from "../thread/thread.ts";
import type { ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";

/** Instructions of a request, and the response that they are stored with. */
interface KeptLead {
  readonly key: string;
  readonly response: string;
}

const keptLeads = new WeakMap<Thread, KeptLead>();

/** Records the id of a call's reply, so that a request can continue from it; undefined if none can. */
export function nameReply(
  principal: string,
  { responses, items, stored }: Pick<ExchangeParts, "responses" | "items" | "stored">,
  read: ReadRequest,
  { asked, thread, last }: Call,
): NameReply | undefined {
  const { api, chain } = asked;
  if (!isKeptThere(api, read.fields.all)) return undefined;
  const isKept = mayBeNamed(read) || chain !== undefined;
  const lead = chain ? [] : leadMessages(api, read, stored);
  const key = lead.map(canonicalKey).join(" ");
  return (response, entry, said) => {
    if (read.fields.all.store !== false) items.note(principal, said);
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
        home: thread.home,
        entry: behind,
        isWhole: id !== undefined && isLeadKept && (chain?.isWhole ?? true) === true,
        ...(keptWith !== undefined && { lead: keptWith }),
      };
    });
    return responses.note(principal, response, { place, isKept, ...(keptWith === response && { lead }) });
  };
}

/** False for a client that stores nothing and repeats all messages itself, which never refers to a reply. */
function mayBeNamed({ said, fields }: ReadRequest): boolean {
  return fields.all.store !== false || !said.messages.some(({ role }) => role === "assistant");
}

/** Instructions among the items of a request: not part of the messages, but a chain continues from them. */
function leadMessages(
  api: Api,
  { said: { cut, lead } }: ReadRequest,
  stored: ExchangeParts["stored"],
): readonly MessageInput[] {
  const elements = Array.from({ length: lead }, (_, index) => elementAt(cut, index));
  return api.decode(elements).map(({ input }) => stored(input, canonicalKey(input)));
}
