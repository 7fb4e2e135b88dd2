import type { EntryId, FittedWindow, Session } from "../../index.ts";
import type { Violation } from "../outgoing/violation.ts";
import type { CutBody } from "../request/cut-body.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { CallRequest } from "./call-request.ts";
import { isSimilarWindow, type WindowKey } from "./thread-windows.ts";

/** The outcome of a request, for an exact repetition: a client that retries, or wants another reply. */
export interface LastSentRequest {
  /** The kept bytes of the request. */
  readonly body: CutBody;
  readonly windowKey: WindowKey;
  /** Its last message. */
  readonly last: EntryId;
  readonly fitted: FittedWindow | undefined;
  /** Last seq up to which the log was inspected. */
  readonly seenSeq: number;
  readonly pieces: readonly OutgoingPiece[] | undefined;
  readonly violations: readonly Violation[];
}

interface SendingThread {
  readonly session: Session;
  lastSent: LastSentRequest | undefined;
}

/** Kinds of entries other than messages that affect windows. */
export const DECIDING_KINDS = ["pin", "overlay", "redacted"] as const;

/**
 * The outcome of the last request of a thread, if this one is byte-identical and no pin, overlay or redaction was added
 * since.
 */
export function findRepeatedSend(
  thread: SendingThread,
  callRequest: CallRequest,
): Promise<LastSentRequest | undefined> | undefined {
  const { lastSent: sent } = thread;
  const { messages, chain, buildPlainPieces: plain, isDryRun } = callRequest;
  if (!sent || chain || plain || isDryRun || messages.cut.like !== sent.body) return undefined;
  if (!messages.cut.bytes.equals(sent.body.bytes) || !isSimilarWindow(sent.windowKey, callRequest))
    return undefined;
  return checkUndecided(thread, sent);
}

/** The outcome, unless a pin, overlay or redaction was added since. */
async function checkUndecided(
  thread: SendingThread,
  sent: LastSentRequest,
): Promise<LastSentRequest | undefined> {
  const { session } = thread;
  const { seq: head } = await session.head();
  const [decided] = await session.read({ from: sent.seenSeq + 1, to: head, kinds: DECIDING_KINDS, limit: 1 });
  if (decided) return undefined;
  // Remembers the inspected range, for many replies to one request.
  const seen = { ...sent, seenSeq: head };
  if (thread.lastSent === sent) thread.lastSent = seen;
  return seen;
}
