import type { Part } from "../../model/part.ts";
import { isCommitCommand } from "../../window/effects/commit.ts";
import { findTouches } from "../../window/effects/find-touches.ts";
import { EVIDENCE } from "../text/evidence.ts";

/** The evidence bits of a part; 0 for prose and tool results. */
export function detectEvidence(part: Part): number {
  if (part.type === "reasoning") return EVIDENCE.reasoning;
  if (part.type !== "tool-call") return 0;
  let bits: number = EVIDENCE.call;
  for (const { kind, command } of findTouches(part)) {
    if (kind === "edit" || kind === "write") bits |= EVIDENCE.edit;
    if (command !== undefined && isCommitCommand(command)) bits |= EVIDENCE.commit;
  }
  return bits;
}
