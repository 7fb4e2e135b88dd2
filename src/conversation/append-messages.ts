import type { Entry, MessageBody, MessageInput, Session } from "../index.ts";
import type { LineCache } from "./line-cache.ts";
import type { CallerMessage } from "./placed-messages.ts";

/** The result of an append. */
interface AppendedMessages {
  /** True if the known line has grown by exactly these messages. */
  readonly isWhole: boolean;
  readonly written: readonly Entry<MessageBody>[];
}

/** Messages per append. */
const BATCH = 1_000;

/** Appends a caller's messages. Throws POSITION_CONFLICT unless the log ends at `expectedHead`. */
export async function appendMessages(
  session: Session,
  lineCache: LineCache,
  given: readonly CallerMessage[],
  expectedHead?: number,
): Promise<AppendedMessages> {
  const written: Entry<MessageBody>[] = [];
  let isWhole = true;
  let head = expectedHead;
  for (let from = 0; from < given.length; from += BATCH) {
    const inputs: MessageInput[] = [];
    for (const one of given.slice(from, from + BATCH)) {
      if (one.before) for (const input of await one.before()) inputs.push(input);
      inputs.push(one.input());
    }
    const options = head === undefined ? {} : { expectedHead: head };
    const entries = await session.appendAll(inputs, options);
    if (head !== undefined) head += entries.length;
    isWhole = lineCache.addAppended(entries) && isWhole;
    for (const entry of entries) written.push(entry);
  }
  return { isWhole, written };
}
