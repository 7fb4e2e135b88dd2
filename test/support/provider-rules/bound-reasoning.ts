import {
  digest,
  type Fields,
  fieldsIn,
  type Judgement,
  type LostReasoning,
  type ModelRequest,
  type Refusal,
} from "./judgement.ts";

/** The content that OpenAI encrypts in a reasoning item. */
export interface BoundReasoning {
  /** Id of the item. */
  readonly id: string;
  /** Digest of everything visible before it. */
  readonly prefix: string;
  /** Calls that the item belongs to, by call id; "message" for a reply in words. */
  readonly follows: readonly string[];
}

/** Items that a provider has produced, by encrypted content. */
export type BoundItems = ReadonlyMap<string, BoundReasoning>;

/** Which reasoning the model is shown. */
type Context = "all_turns" | "current_turn";

/**
 * Judges the reasoning of a request to the Responses API. A changed item before it makes reasoning useless without an
 * error; an item without the one it belongs to is an error.
 */
export function judgeReasoning(
  { body }: ModelRequest,
  items: readonly Fields[],
  produced: BoundItems,
): Judgement {
  const sent: string[] = [];
  const alive: string[] = [];
  const lost: LostReasoning[] = [];
  const lastQuestion = items.findLastIndex(({ role }) => role === "user");
  const isCurrentOnly = contextOf(body) === "current_turn";
  let prefix = headOf(body);
  for (const [index, item] of items.entries()) {
    if (item.type !== "reasoning") {
      const refusal = refuseCall(items, index, produced);
      if (refusal) return { sent, alive, lost, refusal };
      prefix = digest(prefix, visible(item));
      continue;
    }
    const seal = String(item.encrypted_content);
    const was = produced.get(seal);
    if (!was) {
      const told = `The encrypted content ${seal.slice(0, 8)} could not be verified.`;
      return { sent, alive, lost, refusal: refuse("encrypted-content", told, "invalid_encrypted_content") };
    }
    if (!isFollowed(items[index + 1], was)) {
      const told = `Item '${String(item.id ?? was.id)}' of type 'reasoning' was provided without its required following item.`;
      return { sent, alive, lost, refusal: refuse("reasoning-orphan", told) };
    }
    sent.push(seal);
    const isShown = !isCurrentOnly || index > lastQuestion;
    if (was.prefix === prefix && isShown) alive.push(seal);
    else lost.push({ path: `input.${index}`, reason: isShown ? "prefix_changed" : "earlier_turn", seal });
  }
  return { sent, alive, lost };
}

/** Binds the reasoning of a reply to the items of its request. */
export function bindReasoning(
  { body }: ModelRequest,
  items: readonly Fields[],
  output: readonly Fields[],
  produced: BoundItems,
): BoundItems {
  const bound = new Map(produced);
  let prefix = headOf(body);
  for (const item of items) if (item.type !== "reasoning") prefix = digest(prefix, visible(item));
  for (const [index, item] of output.entries()) {
    if (item.type !== "reasoning") {
      prefix = digest(prefix, visible(item));
      continue;
    }
    const end = output.findIndex(({ type }, at) => at > index && type === "reasoning");
    const follows = output
      .slice(index + 1, end === -1 ? undefined : end)
      .map(({ type, call_id: id }) => (type === "message" ? "message" : String(id)));
    bound.set(String(item.encrypted_content), { id: String(item.id), prefix, follows });
  }
  return bound;
}

/** A client sends items back without their status, and with or without their ids: neither is part of the prefix. */
function visible({ id: _, status: __, ...item }: Fields): string {
  if (item.type === "message" || item.type === undefined) {
    const { content, role } = item;
    return JSON.stringify(["message", role, textsOf(content)]);
  }
  return JSON.stringify(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function textsOf(content: unknown): unknown {
  if (typeof content === "string") return [content];
  return fieldsIn(content).map(({ text, type: _, annotations: __, logprobs: ___, ...rest }) =>
    Object.keys(rest).length === 0 ? text : { text, ...rest },
  );
}

function headOf({ instructions, tools, text }: Fields): string {
  const format = (text as Fields | undefined)?.format;
  return digest(JSON.stringify([instructions ?? "", tools ?? [], format ?? null]));
}

function contextOf({ reasoning }: Fields): Context {
  const { context } = Object(reasoning) as { readonly context?: unknown };
  return context === "current_turn" ? "current_turn" : "all_turns";
}

function isFollowed(next: Fields | undefined, { follows }: BoundReasoning): boolean {
  if (!next) return false;
  if (next.type === "reasoning") return true;
  const isWords = next.role === "assistant";
  return isWords ? follows.includes("message") : follows.includes(String(next.call_id));
}

/** A call that comes with its own id needs the reasoning item it was produced with. */
function refuseCall(items: readonly Fields[], index: number, produced: BoundItems): Refusal | undefined {
  const { type, id, call_id: callId } = items[index] as Fields;
  if (id === undefined || !String(type).endsWith("_call")) return undefined;
  for (const [seal, { id: reasoning, follows }] of produced) {
    if (!follows.includes(String(callId))) continue;
    if (items.slice(0, index).some((item) => item.encrypted_content === seal)) return undefined;
    const told = `Item '${String(id)}' of type '${String(type)}' was provided without its required 'reasoning' item: '${reasoning}'.`;
    return refuse("call-without-reasoning", told);
  }
  return undefined;
}

/** Refuses a request in OpenAI's format. */
export function refuse(rule: string, message: string, code: string | null = null): Refusal {
  const error = { message, type: "invalid_request_error", param: "input", code };
  return { rule, status: 400, body: { error } };
}
