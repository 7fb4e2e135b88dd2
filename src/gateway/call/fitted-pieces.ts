import type { PlacedMessages } from "../../conversation/conversation.ts";
import type { FittedWindow } from "../../index.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { alternatePieces } from "../outgoing/alternate-pieces.ts";
import { findBrokenRules } from "../outgoing/find-broken-rules.ts";
import { moveLostMarkers } from "../outgoing/move-markers.ts";
import { buildOutgoingPieces } from "../outgoing/outgoing-pieces.ts";
import { isUnchangedWindow, planOutgoing } from "../outgoing/plan-outgoing.ts";
import type { Violation } from "../outgoing/violation.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

/** The outgoing form of a window. */
export interface FittedPieces {
  /** Undefined if the body is sent unchanged. */
  readonly pieces: readonly OutgoingPiece[] | undefined;
  /** Rules of the provider that the edit would have violated; it is then not sent. */
  readonly violations: readonly Violation[];
}

const UNCHANGED: FittedPieces = { pieces: undefined, violations: [] };

/** Converts a fitted window to the elements of a request; at once if it is unchanged. */
export function buildFittedPieces(
  thread: Thread,
  callRequest: CallRequest,
  placed: PlacedMessages<RequestMessage>,
  fitted: FittedWindow,
): FittedPieces | Promise<FittedPieces> {
  const { messages } = callRequest;
  const given = thread.getLineMessages(messages);
  const isUnchanged =
    !messages.dropped && isUnchangedWindow(fitted, { given, last: placed.last }, thread.session.id);
  return isUnchanged ? UNCHANGED : buildChangedPieces(thread, callRequest, placed, fitted, given);
}

async function buildChangedPieces(
  thread: Thread,
  callRequest: CallRequest,
  placed: PlacedMessages<RequestMessage>,
  fitted: FittedWindow,
  given: readonly RequestMessage[],
): Promise<FittedPieces> {
  const { api, messages } = callRequest;
  const session = thread.session.id;
  const notes = messages.list.slice(given.length).map(({ index }) => ({ type: "same", index }) as const);
  const outgoing = [...planOutgoing({ ...fitted, session, placed, keyOf: getMessageKey }), ...notes];
  const written = await buildOutgoingPieces(
    api,
    messages,
    outgoing,
    thread.encodedMessages,
    thread.loggedContent.loadBase64,
  );
  const marked = api.name === "anthropic" ? moveLostMarkers(messages.cut, written) : written;
  const pieces = alternatePieces(api.name, messages, marked);
  // A shortened result keeps its place, its call and its blocks, so it breaks no rule.
  // A plan is checked when it is made, until it is valid; later requests only repeat and extend it.
  const isLooked = fitted.plan || fitted.page || messages.list[0]?.isLogged || thread.isSuspect;
  if (!isLooked || isWholeBody(callRequest, pieces)) return { pieces, violations: [] };
  const violations = findBrokenRules(api.name, messages.cut, pieces);
  thread.isSuspect = violations.length > 0;
  // An edit that the provider would refuse is worse than none.
  return { pieces: violations.length > 0 ? undefined : pieces, violations };
}

/** True if the pieces are the whole body, unchanged. */
export function isWholeBody(
  { messages, buildPlainPieces: plain }: CallRequest,
  pieces: readonly OutgoingPiece[] | undefined,
): boolean {
  const [only, ...others] = pieces ?? [];
  if (!only) return true;
  if (others.length > 0 || !("from" in only) || (plain && only.from > 0)) return false;
  return only.to === messages.cut.elements.length;
}
