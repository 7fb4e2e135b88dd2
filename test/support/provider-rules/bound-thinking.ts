import {
  digest,
  type Fields,
  fieldsIn,
  type Judgement,
  type LostReasoning,
  type ModelRequest,
  type Refusal,
  withoutMarkers,
} from "./judgement.ts";

/** The facts that the signature of a thinking block, or of a compaction block, records. */
export interface BoundBlock {
  readonly model: string;
  /** Digest of everything before the block, or of the messages that a compaction block stands for. */
  readonly prefix: string;
  /** Signature of the thinking block before it; empty if there was none. */
  readonly before: string;
  readonly text: string;
}

/** Blocks that a provider has produced, by signature. */
export type BoundBlocks = ReadonlyMap<string, BoundBlock>;

/** An account and a platform decide together whether a changed prefix is an error. */
export interface Account {
  /** True for an account from before 31 August 2026: only the newest models check its thinking unasked. */
  readonly isOlder?: boolean;
  /** True on a platform that does not know the controls of thinking. */
  readonly hasNoControls?: boolean;
}

/** The beta that a request needs to choose what happens to thinking whose prefix changed. */
export const THINKING_CONTROLS = "thinking-binding-controls-2026-08-01";

const MODEL = /claude-(fable|mythos|opus|sonnet|haiku)-(\d+)(?:-(\d{1,2}))?(?!\d)/;
/** The first version of each family that binds its thinking. */
const BINDS_FROM: Readonly<Record<string, number>> = {
  fable: 5.1,
  mythos: 5.1,
  opus: 5.5,
  sonnet: 5.5,
  haiku: 5.5,
};
/** The first version of each family whose check does not depend on the account's age. */
const CHECKS_ALL_FROM: Readonly<Record<string, number>> = { fable: 5.2, mythos: 5.2 };

/** Whether a model binds its thinking to everything before it; later models than the ones known today do too. */
export function bindsThinking(model: string): boolean {
  return isFrom(BINDS_FROM, model);
}

/** Judges the thinking of a request to the Messages API, or of one that only counts its tokens. */
export function judgeThinking(
  request: ModelRequest,
  produced: BoundBlocks,
  account: Account = {},
): Judgement {
  const model = String(request.body.model);
  const sent: string[] = [];
  const alive: string[] = [];
  const lost: LostReasoning[] = [];
  for (const { path, block, prefix } of thinkingIn(request.body, produced)) {
    const seal = sealOf(block);
    const was = produced.get(seal);
    const reason = reasonOfLoss(model, block, was, prefix, alive.at(-1) ?? "");
    sent.push(seal);
    if (reason === undefined) alive.push(seal);
    else lost.push({ path, reason, seal });
  }
  return decide(request, { sent, alive, lost }, account);
}

/**
 * Binds the thinking and compaction blocks of a reply to the request. A summary that the client asked for stands for
 * exactly the messages of the request, and one that the provider made by itself begins a new prefix.
 */
export function bindThinking(
  { body }: ModelRequest,
  content: readonly Fields[],
  { alive }: Judgement,
  produced: BoundBlocks,
): BoundBlocks {
  const model = String(body.model);
  const bound = new Map(produced);
  let before = alive.at(-1) ?? "";
  const messages = fieldsIn(body.messages);
  for (const block of content)
    if (block.type === "compaction") {
      const prefix = isOnDemand(body)
        ? prefixOf(body, produced)
        : digest(headOf(body), withoutMarkers(block));
      bound.set(sealOf(block), { model, prefix, before: "", text: textOf(block) });
    }
  const answered = { ...body, messages: [...messages, { role: "assistant", content }] };
  for (const { message, block, prefix } of thinkingIn(answered, bound)) {
    if (message < messages.length) continue;
    bound.set(sealOf(block), { model, prefix, before, text: textOf(block) });
    before = sealOf(block);
  }
  return bound;
}

interface PlacedThinking {
  readonly path: string;
  readonly message: number;
  readonly block: Fields;
  /** Digest of everything before it. */
  readonly prefix: string;
}

/** The thinking blocks of a request, each with the digest of everything before it. */
function thinkingIn(body: Fields, produced: BoundBlocks): readonly PlacedThinking[] {
  const found: PlacedThinking[] = [];
  walk(body, produced, (placed) => found.push(placed));
  return found;
}

function prefixOf(body: Fields, produced: BoundBlocks): string {
  return walk(body, produced, () => undefined);
}

/** Visits the thinking blocks in order and returns the digest of the whole request, in which thinking does not count. */
function walk(body: Fields, produced: BoundBlocks, visit: (placed: PlacedThinking) => void): string {
  const head = headOf(body);
  const deferred = new Map(
    fieldsIn(body.tools).flatMap((tool) => (tool.defer_loading ? [[String(tool.name), tool] as const] : [])),
  );
  let prefix = digest(head);
  for (const [message, { role, content, clear_at: clearAt }] of fieldsIn(body.messages).entries()) {
    const opening = digest("message", String(role), String(clearAt ?? ""));
    let isOpen = false;
    for (const [index, block] of blocksOf(content).entries()) {
      if (isThinking(block)) {
        visit({ path: `messages.${message}.content.${index}`, message, block, prefix });
        continue;
      }
      if (block.type === "compaction") {
        const own = produced.get(sealOf(block));
        prefix = own?.prefix ?? digest(head, withoutMarkers(block));
        isOpen = false;
        continue;
      }
      if (!isOpen) prefix = digest(prefix, opening);
      isOpen = true;
      // A tool whose definition was deferred joins the prefix where it is first referred to.
      const joined = referencesIn(block).map((name) => withoutMarkers(deferred.get(name)));
      prefix = digest(prefix, withoutMarkers(block), ...joined);
    }
    // A message without content still stands in the conversation, such as one that only sets the effort.
    if (!isOpen && blocksOf(content).length === 0) prefix = digest(prefix, opening);
  }
  return prefix;
}

/** The system prompt and the tools as a set; a deferred tool is not part of it. */
function headOf({ system, tools }: Fields): string {
  const set = fieldsIn(tools)
    .filter((tool) => tool.defer_loading !== true)
    .map((tool) => withoutMarkers(tool))
    .sort();
  return digest(withoutMarkers(blocksOf(system)), ...set);
}

function reasonOfLoss(
  model: string,
  block: Fields,
  was: BoundBlock | undefined,
  prefix: string,
  before: string,
): string | undefined {
  if (!was || was.text !== textOf(block)) return "invalid_signature";
  if (!canRead(model, was.model)) return "model_binding_mismatch";
  if (!bindsThinking(was.model) || !bindsThinking(model)) return undefined;
  // Thinking at the start may be left out; the rest has to be a chain.
  const isChained = before === "" || was.before === before;
  return was.prefix === prefix && isChained ? undefined : "prefix_binding_mismatch";
}

type Found = Pick<Judgement, "sent" | "alive" | "lost">;

/** An error, dropped blocks, or blocks that are only reported, as account, header and request together ask for. */
function decide(request: ModelRequest, found: Found, account: Account): Judgement {
  const { body, header } = request;
  const model = String(body.model);
  const thinking = Object(body.thinking) as Fields;
  const binding = thinking.block_binding as Fields | undefined;
  const hasControls = !account.hasNoControls && betasOf(header).includes(THINKING_CONTROLS);
  if (binding !== undefined && !hasControls) {
    const field = `thinking.${String(thinking.type ?? "adaptive")}.block_binding`;
    return { ...found, refusal: invalidRequest("block-binding", `${field}: Extra inputs are not permitted`) };
  }
  const behaviour = binding?.prefix_mismatch_behavior;
  const isChecked =
    behaviour !== undefined || (bindsThinking(model) && !account.isOlder) || isFrom(CHECKS_ALL_FROM, model);
  const broken = found.lost.find(({ reason }) => reason === "invalid_signature");
  if (broken)
    return {
      ...found,
      refusal: invalidRequest("signature", `${broken.path}: Invalid \`signature\` in \`thinking\` block`),
    };
  const isMismatch = ({ reason }: LostReasoning) => reason === "prefix_binding_mismatch";
  const first = found.lost.find(isMismatch);
  if (first && isChecked && behaviour !== "drop_block")
    return { ...found, refusal: bindingRefusal(first.path, hasControls) };
  const isShown = (one: LostReasoning) => isMismatch(one) && !isChecked;
  const entries = found.lost.map(({ path, reason, ...one }) => ({
    type: isShown({ path, reason, ...one }) ? "thinking_mismatch_allowed" : "thinking_dropped",
    path,
    reason,
  }));
  return {
    sent: found.sent,
    alive: found.sent.filter((seal) => found.lost.every((one) => one.seal !== seal || isShown(one))),
    lost: found.lost.filter((one) => !isShown(one)),
    ...(hasControls && { transformations: entries }),
  };
}

function bindingRefusal(path: string, hasControls: boolean): Refusal {
  const told =
    `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the` +
    ' block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
  const hint = ` That setting requires the \`${THINKING_CONTROLS}\` value in the \`anthropic-beta\` header.`;
  return invalidRequest("thinking-binding", hasControls ? told : `${told}${hint}`);
}

/** Refuses a request in Anthropic's format. */
export function invalidRequest(rule: string, message: string): Refusal {
  return {
    rule,
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message } },
  };
}

/** Models that read thinking of others: a newer one reads older ones, never the reverse. */
const READS: Readonly<Record<string, readonly string[]>> = {
  "fable-5.1": ["opus-5", "opus-5.5"],
  "fable-5.2": ["opus-5", "opus-5.5", "fable-5.1"],
};

function canRead(reader: string, writer: string): boolean {
  const [own, other] = [nameOf(reader), nameOf(writer)];
  // Thinking of Haiku 5.5 is not locked to its model.
  return own === other || other === "haiku-5.5" || (READS[own]?.includes(other) ?? false);
}

function nameOf(model: string): string {
  const [, family, major, minor] = MODEL.exec(model) ?? [];
  return family === undefined ? model : `${family}-${major}${minor === undefined ? "" : `.${minor}`}`;
}

function isFrom(versions: Readonly<Record<string, number>>, model: string): boolean {
  const [, family = "", major, minor = "0"] = MODEL.exec(model) ?? [];
  const first = versions[family];
  return first !== undefined && Number(`${major}.${minor}`) >= first;
}

export function betasOf(header: ModelRequest["header"]): readonly string[] {
  return (header("anthropic-beta") ?? "").split(",").map((name) => name.trim());
}

export function isThinking({ type }: Fields): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

export function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return fieldsIn(content);
}

function isOnDemand({ compaction }: Fields): boolean {
  return (compaction as Fields | undefined)?.type === "summarize";
}

function sealOf({ signature, data, content }: Fields): string {
  return String(signature ?? data ?? content);
}

function textOf({ thinking, content }: Fields): string {
  return String(thinking ?? content ?? "");
}

/** Names of the tools that a block makes known. */
export function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, tool_name: toolName, name } = value as Fields;
  if (type === "tool_reference") return [String(toolName ?? name)];
  return Object.values(value).flatMap(referencesIn);
}
