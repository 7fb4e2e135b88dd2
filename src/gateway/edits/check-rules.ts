import type { ApiName, JsonObject } from "../api/api.ts";
import { anthropicViolations, latestThinking } from "./anthropic-rules.ts";
import { chatViolations, itemsWithoutReasoning, responsesViolations } from "./openai-rules.ts";
import { newRepeatedRoles } from "./role-rules.ts";
import type { Violation } from "./violation.ts";

/** Facts about a request other than the elements of its messages. */
export interface RulesContext {
  /** Cache markers outside the messages; see `leadMarkers`. */
  readonly leadMarkers?: number;
}

/** Rules of the provider that the elements of a request violate, whether edited or not. */
export function violationsIn(
  api: ApiName,
  elements: readonly JsonObject[],
  { leadMarkers }: RulesContext = {},
): readonly Violation[] {
  switch (api) {
    case "anthropic":
      return anthropicViolations(elements, leadMarkers);
    case "openai-chat":
      return chatViolations(elements);
    case "openai-responses":
      return responsesViolations(elements);
  }
}

/** Rules that an edited request violates and the client's own request did not; such a request must not be sent. */
export function newViolations(
  api: ApiName,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
  context: RulesContext = {},
): readonly Violation[] {
  const known = new Map<string, number>();
  for (const violation of violationsIn(api, before, context))
    known.set(keyOf(violation), (known.get(keyOf(violation)) ?? 0) + 1);
  const found = violationsIn(api, after, context).filter((violation) => {
    const left = known.get(keyOf(violation)) ?? 0;
    known.set(keyOf(violation), left - 1);
    return left <= 0;
  });
  return [...found, ...changes(api, before, after), ...newRepeatedRoles(api, before, after)];
}

/** Violations that only a comparison reveals. */
function changes(
  api: ApiName,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): readonly Violation[] {
  if (api === "openai-responses") return itemsWithoutReasoning(before, after);
  if (api !== "anthropic" || latestThinking(before) === latestThinking(after)) return [];
  return [{ rule: "thinking-changed", element: after.findLastIndex(({ role }) => role === "assistant") }];
}

function keyOf({ rule, id = "" }: Violation): string {
  return `${rule} ${id}`;
}
