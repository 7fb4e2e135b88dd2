import type { EntryId, Fitted, Session } from "../../index.ts";
import type { CutBody } from "../body/cut.ts";
import type { Violation } from "../edits/violation.ts";
import type { Asked } from "./asked.ts";
import type { Piece } from "./outgoing.ts";
import { isAlike, type Made } from "./window-set.ts";

/** What a request became, for the very same request once more: a client that tries again, or wants another answer. */
export interface Sent {
  /** The request as its bytes are kept. */
  readonly body: CutBody;
  readonly made: Made;
  /** Its last message. */
  readonly last: EntryId;
  readonly fitted: Fitted | undefined;
  /** Up to where the log was looked through. */
  readonly seenSeq: number;
  readonly pieces: readonly Piece[] | undefined;
  readonly violations: readonly Violation[];
}

/** Whose request it was. */
interface Sender {
  readonly session: Session;
  sent: Sent | undefined;
}

/** What decides over windows, besides what was said. */
const DECIDING = ["pin", "overlay", "redacted"] as const;

/** What the last request of a thread became, if this one is the same to the byte and nothing was decided since. */
export async function sentBefore(thread: Sender, asked: Asked): Promise<Sent | undefined> {
  const { sent, session } = thread;
  const { said, chain, plain, isDryRun } = asked;
  if (!sent || chain || plain || isDryRun || said.cut.like !== sent.body) return undefined;
  if (!said.cut.bytes.equals(sent.body.bytes) || !isAlike(sent.made, asked)) return undefined;
  const { seq: head } = await session.head();
  const [decided] = await session.read({ from: sent.seenSeq + 1, to: head, kinds: DECIDING, limit: 1 });
  if (decided) return undefined;
  // Many answers to one request need not be looked through each time.
  const seen = { ...sent, seenSeq: head };
  if (thread.sent === sent) thread.sent = seen;
  return seen;
}
