import type { ApiName } from "../api/api.ts";
import type { CutBody } from "../body/cut.ts";
import { newViolations, violationsIn } from "../edits/check-rules.ts";
import { leadMarkers } from "../edits/lead-markers.ts";
import { repeatedRoles } from "../edits/role-rules.ts";
import type { Violation } from "../edits/violation.ts";
import { elementsOf, type Piece } from "./outgoing.ts";

/** Rules of the provider that a request of these pieces would violate, and the client's own body does not. */
export function brokenRules(api: ApiName, cut: CutBody, pieces: readonly Piece[]): readonly Violation[] {
  const context = { leadMarkers: api === "anthropic" ? leadMarkers(cut) : 0 };
  const after = elementsOf(cut, pieces);
  // Only lost reasoning in the Responses API is invisible in the outgoing elements alone.
  const isSound = violationsIn(api, after, context).length === 0 && repeatedRoles(api, after).length === 0;
  if (api !== "openai-responses" && isSound) return [];
  const before = elementsOf(cut, [{ from: 0, to: cut.elements.length }]);
  return newViolations(api, before, after, context);
}
