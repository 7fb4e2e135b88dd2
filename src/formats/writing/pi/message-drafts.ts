import { type Message, type Part, type ToolResultPart, textOfMessage } from "../../../index.ts";
import { objectOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { PartSource } from "../anthropic-blocks.ts";
import { blocksOfPi } from "./blocks.ts";
import { type OwnMeta, ownMetaOf } from "./own-meta.ts";

/** An entry on its way to the file, still without id and place. */
export interface Draft {
  readonly fields: JsonObject;
  /** The parts of our message it holds, by index. */
  readonly parts: readonly number[];
  /** Content blocks, one for each of those parts; empty where it has no such content. */
  readonly blocks: readonly JsonObject[];
  /** Where usage belongs: into pi's message, or into the entry itself. */
  readonly usage?: "message" | "entry";
  readonly callId?: string;
}

/** What is needed to write messages. */
export interface DraftSource extends PartSource {
  /** The name of the tool that a call was for. */
  toolName(callId: string): string | undefined;
}

/** The entries of a message. Results of tools each have one of their own in pi. */
export async function draftsOf(
  message: Message,
  at: number,
  extra: JsonObject | undefined,
  source: DraftSource,
): Promise<readonly Draft[]> {
  const own = ownMetaOf(message.meta);
  const spoken = own && (await spokenDraft(message, own, { at, extra, source }));
  if (spoken) return [spoken];
  const base = { timestamp: at, ...own?.message, ...objectOf(extra?.message) };
  const wrap = (inner: JsonObject): JsonObject => ({
    type: "message",
    ...own?.entry,
    ...entryFields(extra),
    message: inner,
  });
  const drafts: Draft[] = [];
  const others: number[] = [];
  for (const [index, part] of message.parts.entries()) {
    if (part.type !== "tool-result") {
      others.push(index);
      continue;
    }
    const blocks = await blocksOfPi([part], source);
    const result = resultFields(part, own?.isPlain ? plainOf(blocks) : blocks, source);
    drafts.push({
      fields: wrap({ ...result, ...base }),
      parts: [index],
      blocks,
      // Of another tool's usage nobody knows that it was the tool's.
      ...(own && { usage: "message" }),
      callId: part.callId,
    });
  }
  if (drafts.length > 0 && others.length === 0) return drafts;
  const rest = others.map((index) => message.parts[index] as Part);
  const blocks = await blocksOfPi(rest, source, own?.extras);
  const isPlain = own ? own.isPlain : message.role === "system";
  const content = isPlain ? plainOf(blocks) : own ? blocks : sayable(rest, blocks);
  const role = message.role === "tool" ? "user" : message.role;
  if (role !== "assistant")
    return [...drafts, { fields: wrap({ role, content, ...base }), parts: others, blocks }];
  const hasCalls = blocks.some(({ type }) => type === "toolCall");
  const fields = {
    role,
    content,
    api: "unknown",
    provider: "unknown",
    model: message.model ?? "unknown",
    stopReason: message.interrupted ? "aborted" : hasCalls ? "toolUse" : "stop",
    ...base,
  };
  return [...drafts, { fields: wrap(fields), parts: others, blocks, usage: "message" }];
}

/** Messages that are not simply said by someone: from extensions, commands of the user, summaries. */
async function spokenDraft(
  message: Message,
  own: OwnMeta,
  { at, extra, source }: { at: number; extra: JsonObject | undefined; source: DraftSource },
): Promise<Draft | undefined> {
  const all = message.parts.map((_, index) => index);
  if (own.type === "custom_message") {
    const blocks = await blocksOfPi(message.parts, source, own.extras);
    const content = own.isPlain ? plainOf(blocks) : blocks;
    const fields = { type: own.type, ...own.entry, ...entryFields(extra), content };
    return { fields, parts: all, blocks, usage: "entry" };
  }
  if (own.type === "branch_summary") {
    const summary = await textOf(message, source);
    const fields = { type: own.type, ...own.entry, ...entryFields(extra), summary };
    return { fields, parts: [], blocks: [], usage: "entry" };
  }
  if (own.role === undefined) return undefined;
  const role = own.role === "hookMessage" ? "custom" : own.role;
  const inner = { timestamp: at, ...own.message, ...objectOf(extra?.message) };
  const wrap = (fields: JsonObject): JsonObject => ({
    type: "message",
    ...own.entry,
    ...entryFields(extra),
    message: { role, ...fields, ...inner },
  });
  if (role === "bashExecution") {
    const [ran, output] = await Promise.all(message.parts.map((part) => source.restore(part)));
    const command = ran?.type === "text" ? ran.text.slice("Ran `".length, -1) : "";
    return {
      fields: wrap({ command, output: output?.type === "text" ? output.text : "" }),
      parts: [],
      blocks: [],
    };
  }
  if (role === "branchSummary" || role === "compactionSummary")
    return { fields: wrap({ summary: await textOf(message, source) }), parts: [], blocks: [] };
  const blocks = await blocksOfPi(message.parts, source, own.extras);
  const content = own.isPlain ? plainOf(blocks) : blocks;
  return { fields: wrap({ content }), parts: all, blocks };
}

/** What pi can show a model: not what other tools kept for themselves, nor thoughts without words, unless that is all. */
function sayable(parts: readonly Part[], blocks: readonly JsonObject[]): readonly JsonObject[] {
  const isSaid = ({ type, thinking, thinkingSignature }: JsonObject, index: number) =>
    parts[index]?.type !== "raw" &&
    !(type === "thinking" && thinking === "" && thinkingSignature === undefined);
  const said = blocks.filter(isSaid);
  return said.length > 0 ? said : blocks;
}

function resultFields(part: ToolResultPart, content: unknown, source: DraftSource): JsonObject {
  return {
    role: "toolResult",
    toolCallId: part.callId,
    toolName: part.name ?? source.toolName(part.callId) ?? "unknown",
    content,
    isError: part.isError ?? false,
  };
}

/** What an extra record holds for the entry itself. */
function entryFields(extra: JsonObject | undefined): JsonObject {
  const { type: _, id: _id, message: _message, ...fields } = extra ?? {};
  return fields;
}

/** The words of a message, also of one that was too large for the log. */
export async function textOf(message: Message, source: PartSource): Promise<string> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await source.restore(part));
  return textOfMessage({ ...message, parts });
}

function plainOf(blocks: readonly JsonObject[]): string {
  return blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}
