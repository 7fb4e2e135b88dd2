/**
 * The kind of evidence that a text of an agent's work is, as bits. The index stores them with the traits of a chunk,
 * whose bits are below these.
 */
export const EVIDENCE = {
  call: 1 << 12,
  edit: 1 << 13,
  reasoning: 1 << 14,
  plan: 1 << 15,
  /** An item of a plan that is being worked on. */
  active: 1 << 16,
  commit: 1 << 17,
  /** A sentence that decides something: a choice, a cause, a rule. */
  decision: 1 << 18,
} as const;
