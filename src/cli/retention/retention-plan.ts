import type { SessionId } from "../../index.ts";

/** A conversation with its sub-agents and forks, which stay or go together. */
export interface RetentionFamily {
  /** The session at the top; deleting it deletes the others. */
  readonly root: SessionId;
  readonly title?: string;
  readonly agent?: string;
  /** The person that the conversation belongs to; "local" without a token. */
  readonly person: string;
  readonly sessions: readonly SessionId[];
  /** Last use of any of them. */
  readonly usedAt: number;
  readonly sizeBytes: number;
  /** Reason why the family stays whatever the rules say. */
  readonly keptBecause?: "pinned" | "in use";
}

/** Limits of conversations; each limit is optional. */
export interface RetentionRule {
  /** Agents whose names begin with this; all if undefined. */
  readonly agent?: string;
  /** Only conversations of this person; all if undefined. */
  readonly person?: string;
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}

/** The decision on one family. */
export interface RetentionDecision {
  readonly family: RetentionFamily;
  readonly reason: "age" | "size";
}

/** The decisions of a run. */
export interface RetentionPlan {
  readonly deleted: readonly RetentionDecision[];
  /** Families that a rule would delete and that stay, with the reason in `keptBecause`. */
  readonly kept: readonly RetentionDecision[];
}

/**
 * Decides which families go. The first rule whose agent and person match applies to a family, so rules for single
 * people and agents come before the general one. Under a size limit the longest unused go first.
 */
export function planRetention(
  families: readonly RetentionFamily[],
  rules: readonly RetentionRule[],
  now: number,
): RetentionPlan {
  const deleted: RetentionDecision[] = [];
  const kept: RetentionDecision[] = [];
  const groups = new Map<RetentionRule, RetentionFamily[]>();
  for (const family of families) {
    const rule = rules.find(
      ({ agent, person }) =>
        matchesAgent(family, agent) && (person === undefined || person === family.person),
    );
    if (rule) groups.set(rule, [...(groups.get(rule) ?? []), family]);
  }
  for (const [rule, group] of groups) {
    let sizeBytes = group.reduce((sum, family) => sum + family.sizeBytes, 0);
    for (const family of group.toSorted((one, other) => one.usedAt - other.usedAt)) {
      const isOld = rule.olderThanMs !== undefined && now - family.usedAt > rule.olderThanMs;
      const isOver = rule.maxBytes !== undefined && sizeBytes > rule.maxBytes;
      if (!isOld && !isOver) continue;
      const decision: RetentionDecision = { family, reason: isOld ? "age" : "size" };
      if (family.keptBecause !== undefined) kept.push(decision);
      else {
        deleted.push(decision);
        sizeBytes -= family.sizeBytes;
      }
    }
  }
  return { deleted, kept };
}

function matchesAgent(family: RetentionFamily, agent: string | undefined): boolean {
  return agent === undefined || family.agent?.toLowerCase().startsWith(agent.toLowerCase()) === true;
}
