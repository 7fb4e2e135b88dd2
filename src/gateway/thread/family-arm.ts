import type { Session, SessionId } from "../../index.ts";
import { type ControlArm, chooseArm } from "../identity/control-arm.ts";
import type { Thread } from "./thread.ts";
import { parseThreadMeta, type ThreadMeta } from "./thread-meta.ts";

/**
 * The arm of a conversation under a root: that of its main conversation, or that of the root if it has begun; else one
 * of its own. A conversation that began without an arm gets none later.
 */
export async function findArm(
  root: Session,
  main: Thread | undefined,
  controlShare: number,
): Promise<ControlArm | undefined> {
  if (main) return main.meta.arm;
  const known = parseThreadMeta((await root.record()).meta);
  if (known) return known.arm;
  return chooseOwnArm(root.id, controlShare);
}

/** The arm of a new conversation. */
export function chooseOwnArm(session: SessionId, controlShare: number): ControlArm | undefined {
  return controlShare > 0 ? chooseArm(session, controlShare) : undefined;
}

export function addArm(meta: ThreadMeta, arm: ControlArm | undefined): ThreadMeta {
  return arm === undefined ? meta : { ...meta, arm };
}
