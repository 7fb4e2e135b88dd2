import type { PersonIds } from "../identity/person-ids.ts";
import { buildPlainPieces } from "../outgoing/plain-pieces.ts";
import type { CompactionBlocks } from "../request/find-compactions.ts";
import type { MessageReading, RequestMessages } from "../request/request-messages.ts";
import { splitAtSummary, useClientHistory, useLoggedHistory } from "../request/split-at-summary.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import type { KnownCompactions } from "./known-compactions.ts";
import { summarizeBefore } from "./summarize-before.ts";

/** A request with compaction blocks for an upstream that does not support them. */
interface CompactedRequest {
  /** The messages by which the conversation is found. */
  readonly messages: RequestMessages;
  /** The request to make of the thread that was found. */
  toCallRequest(thread: Thread): CallRequest;
}

/**
 * Reads a request with compaction blocks; undefined for a request without. A summary from this gateway continues its
 * conversation, whatever messages the client has kept. Any other summary replaces the client's messages before it.
 */
export function readCompactedRequest(
  callRequest: CallRequest,
  principal: PersonIds,
  services: CompactedServices,
): Promise<CompactedRequest> | undefined {
  const { compactions } = callRequest;
  return compactions && readCompacted(callRequest, compactions, principal, services);
}

type CompactedServices = { readonly compactions: KnownCompactions } & Pick<MessageReading, "stored">;

async function readCompacted(
  callRequest: CallRequest,
  found: CompactionBlocks,
  principal: PersonIds,
  { compactions, stored }: CompactedServices,
): Promise<CompactedRequest> {
  const { api, messages } = callRequest;
  const reading = { api, stored };
  const since = splitAtSummary(reading, messages, found);
  const { last } = found;
  const own = useClientHistory(reading, messages, since, last);
  const known = last && (await compactions.find(principal, last.text));
  const line = known && (await compactions.readLine(principal, last.text, known));
  const logged = line && useLoggedHistory(messages, since, line, last);
  const plain = () => buildPlainPieces(messages.cut, found);
  return {
    messages: logged ?? own,
    toCallRequest(thread) {
      if (logged && known.session === thread.session.id) {
        compactions.remember(principal, last.text, known.afterEntry, thread);
        return { ...callRequest, messages: logged, buildPlainPieces: plain };
      }
      const { length } = since.before;
      if (!last || length === 0) return { ...callRequest, messages: own, buildPlainPieces: plain };
      const onTaken = async () => {
        const afterEntry = await summarizeBefore(thread, last.text, length);
        if (afterEntry !== undefined && !known)
          await compactions.store(principal, last.text, thread, afterEntry);
      };
      return { ...callRequest, messages: own, buildPlainPieces: plain, onStored: onTaken };
    },
  };
}
