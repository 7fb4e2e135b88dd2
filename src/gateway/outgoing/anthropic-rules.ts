import { getContentBlocks, isEmptyText, isThinking } from "../../wire/content-blocks.ts";
import type { WireObject } from "../../wire/wire.ts";
import { findMarkers, MAX_MARKERS } from "./cache-markers.ts";
import type { Violation } from "./violation.ts";

/** Consecutive messages of one role, which the provider treats as one. */
interface RoleRun {
  readonly role: unknown;
  readonly elements: readonly { readonly element: number; readonly own: WireObject }[];
}

/**
 * Rules of Anthropic's Messages API that the elements violate; `leadMarkers` counts the cache markers outside the
 * messages.
 */
export function findAnthropicViolations(
  elements: readonly WireObject[],
  leadMarkers = 0,
): readonly Violation[] {
  const turns = groupRoleRuns(elements);
  const markers = findMarkers(elements);
  const found: Violation[] = turns.flatMap((turn, place) =>
    findPairingViolations(turn, turns[place - 1], turns[place + 1]),
  );
  found.push(...findServerPairViolations(elements));
  for (const [element, own] of elements.entries()) {
    const blocks = getContentBlocks(own);
    if (blocks.some(isEmptyText)) found.push({ rule: "empty-text", element });
    if (blocks.length === 0) found.push({ rule: "empty-message", element });
  }
  const [first] = turns;
  const opening = first?.elements[0];
  if (opening && first.role !== "user") found.push({ rule: "first-not-user", element: opening.element });
  if (leadMarkers + markers.length > MAX_MARKERS)
    found.push({ rule: "too-many-markers", element: markers.at(-1)?.element ?? 0 });
  return found;
}

/** The serialized thinking blocks of the latest assistant message. */
export function serializeLatestThinking(elements: readonly WireObject[]): string {
  const latest = elements.findLast(({ role }) => role === "assistant");
  return JSON.stringify(latest ? getContentBlocks(latest).filter(isThinking) : []);
}

function findPairingViolations(
  turn: RoleRun,
  before: RoleRun | undefined,
  after: RoleRun | undefined,
): readonly Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  const called = before?.role === "assistant" ? collectIds(before, "tool_use") : undefined;
  const answer = after?.role === "user" ? collectIds(after, "tool_result") : undefined;
  for (const { element, own } of turn.elements) {
    for (const { type, id, tool_use_id: callId } of getContentBlocks(own)) {
      if (type === "tool_use" && typeof id === "string" && !answer?.has(id))
        found.push({ rule: "call-without-result", element, id });
      if (type !== "tool_result" || typeof callId !== "string") continue;
      if (!called?.has(callId)) found.push({ rule: "result-without-call", element, id: callId });
      else if (seen.has(callId)) found.push({ rule: "result-twice", element, id: callId });
      seen.add(callId);
    }
  }
  return found;
}

const SERVER_CALL = /^(?:server|mcp)_tool_use$/;
const SERVER_RESULT = /^\w+_tool_result$/;

/** Results of the provider's own tools need their calls before them, in the same message or in an earlier one. */
function findServerPairViolations(elements: readonly WireObject[]): readonly Violation[] {
  const called = new Set<unknown>();
  const found: Violation[] = [];
  for (const [element, own] of elements.entries()) {
    for (const { type, id, tool_use_id: callId } of getContentBlocks(own)) {
      if (typeof type !== "string") continue;
      if (SERVER_CALL.test(type)) called.add(id);
      else if (SERVER_RESULT.test(type) && typeof callId === "string" && !called.has(callId))
        found.push({ rule: "result-without-call", element, id: callId });
    }
  }
  return found;
}

function collectIds({ elements }: RoleRun, type: "tool_use" | "tool_result"): ReadonlySet<unknown> {
  const blocks = elements.flatMap(({ own }) => getContentBlocks(own).filter((block) => block.type === type));
  return new Set(blocks.map(({ id, tool_use_id }) => (type === "tool_use" ? id : tool_use_id)));
}

/** System messages may stand anywhere and do not form a turn. */
function groupRoleRuns(elements: readonly WireObject[]): readonly RoleRun[] {
  const turns: { role: unknown; elements: { element: number; own: WireObject }[] }[] = [];
  for (const [element, own] of elements.entries()) {
    if (own.role === "system") continue;
    const last = turns.at(-1);
    if (last && last.role === own.role) last.elements.push({ element, own });
    else turns.push({ role: own.role, elements: [{ element, own }] });
  }
  return turns;
}
