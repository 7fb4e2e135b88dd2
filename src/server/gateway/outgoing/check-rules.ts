import { canMergeRoles } from "../../../kernel/calls/merge-roles.ts";
import { getContentBlocks, isEmptyText, isObject, isThinking } from "../../../wire/content-blocks.ts";
import { toObject } from "../../../wire/fields.ts";
import { listGoogleParts } from "../../../wire/google/google-parts.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { countLeadMarkers, findMarkers, MAX_MARKERS } from "./cache-markers.ts";
import { listPieceElements } from "./outgoing-pieces.ts";

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
  if (api !== "anthropic") return [];
  const kept = serializeLatestThinking(after);
  // Thinking may leave as a whole, as it does where a model's thinking is bound to content that has changed.
  if (kept === "[]" || kept === serializeLatestThinking(before)) return [];
  return [{ rule: "thinking-changed", element: after.findLastIndex(({ role }) => role === "assistant") }];
}

function toViolationKey({ rule, id = "" }: Violation): string {
  return `${rule} ${id}`;
}

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

/** Elements that repeat the role of the previous one; strict chat templates refuse them. */
export function findRepeatedRoles(api: WireName, elements: readonly WireObject[]): readonly Violation[] {
  return elements.flatMap((own, element): readonly Violation[] => {
    const previous = elements[element - 1];
    return previous && canMergeRoles(api, previous, own) ? [{ rule: "roles-repeat", element }] : [];
  });
}

/** Repeated roles in an edited request of a client whose own request alternated. */
function findNewRepeatedRoles(
  api: WireName,
  before: readonly WireObject[],
  after: readonly WireObject[],
): readonly Violation[] {
  const found = findRepeatedRoles(api, after);
  return found.length === 0 || findRepeatedRoles(api, before).length > 0 ? [] : found;
}

/**
 * Rules of Google's generateContent that contents violate: a content with function calls is followed by one with as
 * many responses of the same names, and every response follows its call.
 */
function findGoogleViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  let open: string[] = [];
  let caller = 0;
  const close = () => {
    for (const id of open) found.push({ rule: "call-without-result", element: caller, id });
    open = [];
  };
  for (const [element, own] of elements.entries()) {
    const answers = listNames(own, "functionResponse");
    for (const id of answers) {
      const at = open.indexOf(id);
      if (at === -1) found.push({ rule: "result-without-call", element, id });
      else open.splice(at, 1);
    }
    if (answers.length === 0 || own.role === "model") close();
    const calls = listNames(own, "functionCall");
    if (calls.length === 0) continue;
    open = [...calls];
    caller = element;
  }
  close();
  return found;
}

function listNames({ parts }: WireObject, field: "functionCall" | "functionResponse"): readonly string[] {
  return listGoogleParts(parts).flatMap((part) => {
    const named = toObject(toObject(part)?.[field]);
    return named ? [String(named.name)] : [];
  });
}

/**
 * Rules of OpenAI's Chat Completions API that messages violate: results directly follow their calls, and every result
 * has a call.
 */
function findChatViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  let open = new Map<string, number>();
  let called = new Set<string>();
  const close = () => {
    for (const [id, element] of open) found.push({ rule: "call-without-result", element, id });
    open = new Map();
    called = new Set();
  };
  for (const [element, { role, tool_calls, tool_call_id }] of elements.entries()) {
    if (role === "tool") {
      const id = String(tool_call_id);
      if (!called.has(id)) found.push({ rule: "result-without-call", element, id });
      open.delete(id);
      continue;
    }
    close();
    if (role !== "assistant" || !Array.isArray(tool_calls)) continue;
    for (const { id } of tool_calls.filter(isObject)) {
      open.set(String(id), element);
      called.add(String(id));
    }
  }
  close();
  return found;
}

/** True for an item that the model produced. */
const isOutput = ({ type, role }: WireObject): boolean =>
  type === undefined || type === "message" ? role === "assistant" : String(type).endsWith("_call");

const isCall = ({ type, call_id }: WireObject) =>
  String(type).endsWith("_call") && typeof call_id === "string";
const isAnswer = ({ type, call_id }: WireObject) =>
  String(type).endsWith("_output") && typeof call_id === "string";
const isReasoning = ({ type }: WireObject) => type === "reasoning";

/** Rules of OpenAI's Responses API that items violate. */
function findResponsesViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  const called = new Set<unknown>();
  // A call may be among the items that are only referenced.
  const isNamed = elements.some(({ type }) => type === "item_reference");
  const answer = new Set(elements.filter(isAnswer).map(({ call_id }) => call_id));
  for (const [element, own] of elements.entries()) {
    const id = String(own.call_id);
    if (isCall(own)) {
      called.add(own.call_id);
      if (!answer.has(own.call_id)) found.push({ rule: "call-without-result", element, id });
    }
    if (isAnswer(own) && !called.has(own.call_id) && !isNamed)
      found.push({ rule: "result-without-call", element, id });
    if (!isReasoning(own)) continue;
    const next = elements.slice(element + 1).find((item) => !isReasoning(item));
    if (!next || !isOutput(next)) found.push({ rule: "reasoning-without-item", element, id: String(own.id) });
  }
  return found;
}

/** Items that have lost the reasoning before them; the provider refuses stored items without it. */
function findLostReasoning(
  before: readonly WireObject[],
  after: readonly WireObject[],
): readonly Violation[] {
  const reasonOf = (elements: readonly WireObject[]) =>
    new Map(
      elements.flatMap((own, element): readonly (readonly [string, string])[] => {
        const previous = elements[element - 1];
        const isLed = previous && isReasoning(previous) && !isReasoning(own);
        return isLed && typeof own.id === "string" ? [[own.id, String(previous.id)]] : [];
      }),
    );
  const had = reasonOf(before);
  const has = reasonOf(after);
  return after.flatMap(({ id }, element): readonly Violation[] => {
    const isLost = typeof id === "string" && had.has(id) && has.get(id) !== had.get(id);
    return isLost ? [{ rule: "item-without-reasoning", element, id }] : [];
  });
}

/** Consecutive messages of one role, which the provider treats as one. */
interface RoleRun {
  readonly role: unknown;
  readonly elements: readonly { readonly element: number; readonly own: WireObject }[];
}

/**
 * Rules of Anthropic's Messages API that the elements violate; `leadMarkers` counts the cache markers outside the
 * messages.
 */
function findAnthropicViolations(elements: readonly WireObject[], leadMarkers = 0): readonly Violation[] {
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
function serializeLatestThinking(elements: readonly WireObject[]): string {
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

/** Rules of the provider that a request of these pieces would violate, and the client's own body does not. */
export function findBrokenRules(
  api: WireName,
  cut: CutBody,
  pieces: readonly OutgoingPiece[],
): readonly Violation[] {
  const context = { leadMarkers: api === "anthropic" ? countLeadMarkers(cut) : 0 };
  const after = listPieceElements(cut, pieces);
  // Only lost reasoning in the Responses API cannot be seen without a comparison with the original elements.
  const isSound =
    findViolations(api, after, context).length === 0 && findRepeatedRoles(api, after).length === 0;
  if (api !== "openai-responses" && isSound) return [];
  const before = listPieceElements(cut, [{ from: 0, to: cut.elements.length }]);
  return findNewViolations(api, before, after, context);
}
