import type { Placed } from "../../conversation/conversation.ts";
import type { Fitted } from "../../index.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { isAsSaid, planOutgoing } from "../edits/render.ts";
import type { Violation } from "../edits/violation.ts";
import { alternatePieces } from "./alternate-pieces.ts";
import type { Asked } from "./asked.ts";
import { brokenRules } from "./broken-rules.ts";
import { movedMarkers } from "./moved-markers.ts";
import { outgoingPieces, type Piece } from "./outgoing.ts";
import { keyOf } from "./stored.ts";
import type { Thread } from "./thread.ts";

/** The outgoing form of a window. */
export interface FittedPieces {
  /** Undefined if the body is sent unchanged. */
  readonly pieces: readonly Piece[] | undefined;
  /** Rules of the provider that the edit would have violated; it is then not sent. */
  readonly violations: readonly Violation[];
}

const AS_IT_CAME: FittedPieces = { pieces: undefined, violations: [] };

/** Converts a fitted window to the elements of a request. */
export async function fittedPieces(
  thread: Thread,
  asked: Asked,
  placed: Placed<WireMessage>,
  fitted: Fitted,
): Promise<FittedPieces> {
  const { api, said } = asked;
  const session = thread.session.id;
  const given = thread.takenOf(said);
  if (!said.left && isAsSaid(fitted, { given, last: placed.last }, session)) return AS_IT_CAME;
  const notes = said.messages.slice(given.length).map(({ index }) => ({ type: "same", index }) as const);
  const outgoing = [...planOutgoing({ ...fitted, session, placed, keyOf }), ...notes];
  const written = await outgoingPieces(api, said, outgoing, thread.written, thread.base64Of);
  const marked = api.name === "anthropic" ? movedMarkers(said.cut, written) : written;
  const pieces = alternatePieces(api.name, said, marked);
  // A plan is checked when it is made, until it is valid; later requests only repeat and extend it.
  const isLooked = fitted.plan || fitted.page || said.messages[0]?.isLogged || thread.isSuspect;
  if (!isLooked || isUnchanged(asked, pieces)) return { pieces, violations: [] };
  const violations = brokenRules(api.name, said.cut, pieces);
  thread.isSuspect = violations.length > 0;
  // An edit that the provider would refuse is worse than none.
  return { pieces: violations.length > 0 ? undefined : pieces, violations };
}

/** True if the pieces are the whole body, unchanged. */
export function isUnchanged({ said, plain }: Asked, pieces: readonly Piece[] | undefined): boolean {
  const [only, ...others] = pieces ?? [];
  if (!only) return true;
  if (others.length > 0 || !("from" in only) || (plain && only.from > 0)) return false;
  return only.to === said.cut.elements.length;
}
