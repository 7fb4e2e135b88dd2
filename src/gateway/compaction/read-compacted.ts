import type { Reading, WireMessages } from "../body/wire-message.ts";
import type { Asked } from "../thread/asked.ts";
import type { Thread } from "../thread/thread.ts";
import type { KnownCompactions } from "./known-compactions.ts";
import { plainPieces } from "./plain-pieces.ts";
import { saidSince, withLoggedHistory, withOwnHistory } from "./said-since.ts";
import { summariseBefore } from "./summarise-before.ts";

/** A request with compaction blocks for an upstream that does not support them. */
export interface CompactedRequest {
  /** The messages by which the conversation is found. */
  readonly said: WireMessages;
  /** The request to make of the thread that was found. */
  askedOf(thread: Thread): Asked;
}

/**
 * Reads a request with compaction blocks; undefined for a request without. A summary from this gateway continues its
 * conversation, whatever messages the client has kept. Any other summary replaces the client's messages before it.
 */
export async function readCompacted(
  asked: Asked,
  principal: string,
  { compactions, stored }: { readonly compactions: KnownCompactions } & Pick<Reading, "stored">,
): Promise<CompactedRequest | undefined> {
  const { api, said, compactions: found } = asked;
  if (!found) return undefined;
  const reading = { api, stored };
  const since = saidSince(reading, said, found);
  const { last } = found;
  const own = withOwnHistory(reading, said, since, last);
  const known = last && (await compactions.find(principal, last.text));
  const line = known && (await compactions.lineOf(principal, last.text, known));
  const logged = line && withLoggedHistory(said, since, line, last);
  const plain = () => plainPieces(said.cut, found);
  return {
    said: logged ?? own,
    askedOf(thread) {
      if (logged && known.session === thread.session.id) {
        compactions.met(principal, last.text, known.behind, thread);
        return { ...asked, said: logged, plain };
      }
      const { length } = since.before;
      if (!last || length === 0) return { ...asked, said: own, plain };
      const onTaken = async () => {
        const behind = await summariseBefore(thread, last.text, length);
        if (behind !== undefined && !known) await compactions.tell(principal, last.text, thread, behind);
      };
      return { ...asked, said: own, plain, onTaken };
    },
  };
}
