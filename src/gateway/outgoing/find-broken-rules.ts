import type { WireName } from "../../wire/wire.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { findNewViolations, findViolations } from "./check-rules.ts";
import { countLeadMarkers } from "./count-lead-markers.ts";
import { listPieceElements } from "./outgoing-pieces.ts";
import { findRepeatedRoles } from "./role-rules.ts";
import type { Violation } from "./violation.ts";

/** Rules of the provider that a request of these pieces would violate, and the client's own body does not. */
export function findBrokenRules(
  api: WireName,
  cut: CutBody,
  pieces: readonly OutgoingPiece[],
): readonly Violation[] {
  const context = { leadMarkers: api === "anthropic" ? countLeadMarkers(cut) : 0 };
  const after = listPieceElements(cut, pieces);
  // Only lost reasoning in the Responses API is invisible in the outgoing elements alone.
  const isSound =
    findViolations(api, after, context).length === 0 && findRepeatedRoles(api, after).length === 0;
  if (api !== "openai-responses" && isSound) return [];
  const before = listPieceElements(cut, [{ from: 0, to: cut.elements.length }]);
  return findNewViolations(api, before, after, context);
}
