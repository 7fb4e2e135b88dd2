import type { PlacedMessages } from "../../conversation/conversation.ts";
import type { FittedWindow, MessageInput } from "../../index.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { findViolations } from "../outgoing/check-rules.ts";
import { listPieceElements } from "../outgoing/outgoing-pieces.ts";
import { buildPiecesFromLog, hasClientPieces } from "../outgoing/pieces-from-log.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import type { FittedPieces } from "./fitted-pieces.ts";

/** The outgoing form of a window that contains the whole conversation. */
interface LoggedPieces extends FittedPieces {
  /** False if the provider would refuse it for another reason. */
  readonly isAccepted: boolean;
}

/** Converts a fitted window to the elements of a request, taking all but the client's own messages from the log. */
export async function encodeLoggedWindow(
  thread: Thread,
  { api, messages }: CallRequest,
  placed: PlacedMessages<RequestMessage>,
  fitted: FittedWindow,
  lead: readonly MessageInput[],
): Promise<LoggedPieces> {
  const source = { ...fitted, session: thread.session.id, placed, keyOf: getMessageKey };
  const pieces = await buildPiecesFromLog(api, { ...source, client: messages, lead }, thread.loggedContent);
  const violations = findViolations(api.name, listPieceElements(messages.cut, pieces));
  return { pieces, violations, isAccepted: violations.length === 0 && hasClientPieces(messages, pieces) };
}
