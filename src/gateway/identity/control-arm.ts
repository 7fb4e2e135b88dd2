import { computeDigest } from "../../base/digest.ts";

/**
 * The part that a conversation plays in a comparison: requests of the control arm are sent unchanged. A released
 * conversation belonged to the control arm until control was switched off; it counts in neither.
 */
export type ControlArm = "control" | "edited" | "released";

export const CONTROL_ARMS: readonly ControlArm[] = ["control", "edited", "released"];

const DIGITS = 12;

/** The arm of a new conversation, by the digest of its session id, so that a restart does not change it. */
export function chooseArm(session: string, share: number): ControlArm {
  const place = Number.parseInt(computeDigest(`control ${session}`, DIGITS), 16) / 16 ** DIGITS;
  return place < share ? "control" : "edited";
}
