import type { Kernel, SessionRecord } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";

/** Conditions for sessions; all must hold. */
export interface SessionFilter {
  /** Beginning of the agent's name; upper and lower case are equal. */
  readonly agent?: string;
  /** A piece of the project's name. */
  readonly project?: string;
  /** Only sessions with an entry since this time. */
  readonly since?: number;
}

/** Decides whether a session passes; reads its last entry only if the time matters. */
export async function matchesFilter(
  kernel: Kernel,
  record: SessionRecord,
  { agent, project, since }: SessionFilter,
): Promise<boolean> {
  const origin = findOrigin(record);
  if (agent !== undefined && !origin.agent?.toLowerCase().startsWith(agent.toLowerCase())) return false;
  if (project !== undefined && !origin.project?.toLowerCase().includes(project.toLowerCase())) return false;
  if (since === undefined) return true;
  await using session = await kernel.session(record.id);
  const { seq, at } = await session.head();
  return (seq > 0 ? at : record.createdAt) >= since;
}
