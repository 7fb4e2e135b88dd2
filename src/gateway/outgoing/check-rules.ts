import type { WireName, WireObject } from "../../wire/wire.ts";
import { findAnthropicViolations, serializeLatestThinking } from "./anthropic-rules.ts";
import { findGoogleViolations } from "./google-rules.ts";
import { findChatViolations, findLostReasoning, findResponsesViolations } from "./openai-rules.ts";
import { findNewRepeatedRoles } from "./role-rules.ts";
import type { Violation } from "./violation.ts";

/** Facts about a request other than the elements of its messages. */
interface RulesContext {
  /** Cache markers outside the messages; see `leadMarkers`. */
  readonly leadMarkers?: number;
}

/** Rules of the provider that the elements of a request violate, whether edited or not. */
export function findViolations(
  api: WireName,
  elements: readonly WireObject[],
  { leadMarkers }: RulesContext = {},
): readonly Violation[] {
  switch (api) {
    case "anthropic":
      return findAnthropicViolations(elements, leadMarkers);
    case "openai-chat":
      return findChatViolations(elements);
    case "openai-responses":
      return findResponsesViolations(elements);
    case "google":
      return findGoogleViolations(elements);
  }
}

/** Rules that an edited request violates and the client's own request did not; such a request must not be sent. */
export function findNewViolations(
  api: WireName,
  before: readonly WireObject[],
  after: readonly WireObject[],
  context: RulesContext = {},
): readonly Violation[] {
  const known = new Map<string, number>();
  for (const violation of findViolations(api, before, context))
    known.set(toViolationKey(violation), (known.get(toViolationKey(violation)) ?? 0) + 1);
  const found = findViolations(api, after, context).filter((violation) => {
    const left = known.get(toViolationKey(violation)) ?? 0;
    known.set(toViolationKey(violation), left - 1);
    return left <= 0;
  });
  return [...found, ...findChangeViolations(api, before, after), ...findNewRepeatedRoles(api, before, after)];
}

/** Violations that only a comparison reveals. */
function findChangeViolations(
  api: WireName,
  before: readonly WireObject[],
  after: readonly WireObject[],
): readonly Violation[] {
  if (api === "openai-responses") return findLostReasoning(before, after);
  if (api !== "anthropic" || serializeLatestThinking(before) === serializeLatestThinking(after)) return [];
  return [{ rule: "thinking-changed", element: after.findLastIndex(({ role }) => role === "assistant") }];
}

function toViolationKey({ rule, id = "" }: Violation): string {
  return `${rule} ${id}`;
}
