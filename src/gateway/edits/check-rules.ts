import type { ApiName, JsonObject } from "../api/api.ts";
import { anthropicViolations, latestThinking } from "./anthropic-rules.ts";
import { chatViolations, itemsWithoutReasoning, responsesViolations } from "./openai-rules.ts";
import { newRepeatedRoles } from "./role-rules.ts";
import type { Violation } from "./violation.ts";

/** What is known of a request besides the elements of its messages. */
export interface RulesContext {
  /** Cache markers that are not on messages; see `leadMarkers`. */
  readonly leadMarkers?: number;
}

/** Rules of the provider that the elements of a request break, whoever wrote them. */
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

/** Rules that an edited request breaks and the client's own did not: it must not be sent. */
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

/** What can be told only by comparing. */
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
