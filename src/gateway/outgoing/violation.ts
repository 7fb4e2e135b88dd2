/** A rule of a provider that a request violates. */
export interface Violation {
  readonly rule:
    | "call-without-result"
    | "result-without-call"
    | "result-twice"
    | "first-not-user"
    | "empty-text"
    | "empty-message"
    | "too-many-markers"
    | "thinking-changed"
    | "reasoning-without-item"
    | "item-without-reasoning"
    | "roles-repeat";
  /** Index of the element. */
  readonly element: number;
  /** Id of the call or item concerned. */
  readonly id?: string;
}
