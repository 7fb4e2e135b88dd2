/** How long an agent keeps its conversations, as its settings say now. */
export interface KeepingRule {
  /** Days after the last change of a conversation at which the agent deletes it; absent if it never does by age. */
  readonly days?: number;
  /** Conversations that the agent keeps in each project; it deletes the oldest above that number. */
  readonly mostPerProject?: number;
  /** The rule and the place where it is set, as a text for people. */
  readonly rule: string;
}

/** The rule of agents that delete nothing by themselves. */
export const KEPT_UNTIL_DELETED: KeepingRule = { rule: "kept until you delete them" };
