import type { EntryId, Fitted, Session } from "../../index.ts";
import type { CutBody } from "../body/cut.ts";
import type { Violation } from "../edits/violation.ts";
import type { Asked } from "./asked.ts";
import type { Piece } from "./outgoing.ts";
import { isAlike, type Made } from "./window-set.ts";

/** The outcome of a request, for an exact repetition: a client that retries, or wants another reply. */
export interface Sent {
  /** The kept bytes of the request. */
  readonly body: CutBody;
  readonly made: Made;
  /** Its last message. */
  readonly last: EntryId;
  readonly fitted: Fitted | undefined;
  /** Last seq up to which the log was inspected. */
  readonly seenSeq: number;
  readonly pieces: readonly Piece[] | undefined;
  readonly violations: readonly Violation[];
}

interface Sender {
  readonly session: Session;
  sent: Sent | undefined;
}

/** Kinds of entries other than messages that affect windows. */
const DECIDING = ["pin", "overlay", "redacted"] as const;

/**
 * The outcome of the last request of a thread, if this one is byte-identical and no pin, overlay or redaction was added
 * since.
 */
export async function sentBefore(thread: Sender, asked: Asked): Promise<Sent | undefined> {
  const { sent, session } = thread;
  const { said, chain, plain, isDryRun } = asked;
  if (!sent || chain || plain || isDryRun || said.cut.like !== sent.body) return undefined;
  if (!said.cut.bytes.equals(sent.body.bytes) || !isAlike(sent.made, asked)) return undefined;
  const { seq: head } = await session.head();
  const [decided] = await session.read({ from: sent.seenSeq + 1, to: head, kinds: DECIDING, limit: 1 });
  if (decided) return undefined;
  // Remembers the inspected range, for many replies to one request.
  const seen = { ...sent, seenSeq: head };
  if (thread.sent === sent) thread.sent = seen;
  return seen;
}
