import { join } from "node:path";
import type { Json, MessageInput, PartInput } from "../../kernel/index.ts";
import { isWithin } from "../../model/base/join-inside.ts";
import { omitFields, toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import { decodeChatCall } from "../../wire/openai-chat/chat-content-decode.ts";
import type { Format } from "../port/format.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { addPart, decodeContent } from "./chat-like-formats.ts";
import { buildKeptRecord, buildMessageRecords, buildRecord, toMilliseconds } from "./foreign-records.ts";
import { createLinesFormat, readHeadObject } from "./lines-format.ts";

const NAME = "grok";
const CHECKPOINTS = "compaction_checkpoints";

/** The message whose pieces arrive, and the facts of earlier lines that a rewind or the end of a call needs. */
interface GrokState {
  chunk?: { id: string; key: string; role: "user" | "assistant"; at: number | null; parts: PartInput[] };
  model?: string | undefined;
  /** The newest message. */
  last: string | null;
  /** The message before each prompt; a rewind names a prompt by its place in this list. */
  prompts: (string | null)[];
  /** True once a prompt had a number: prompts without one are said during a turn and not counted from then on. */
  isNumbered?: boolean;
  /** The newest output of calls that still run. */
  outputs: Record<string, Json>;
}

const lines = createLinesFormat<GrokState>({
  name: NAME,
  title: "Grok Build",
  processes: ["grok"],
  homes: ({ home, env }) => [join(env.GROK_HOME || join(home, ".grok"), "sessions")],
  async recognize(first, file, folder) {
    if (file.name !== "updates.jsonl" || !first.some((record) => readUpdate(record))) return undefined;
    const summary = await readHeadObject(folder, "summary.json");
    const info = toObject(summary?.info);
    const id = toText(info?.id) ?? folder.name;
    return {
      id,
      cwd: toText(info?.cwd),
      title: toText(summary?.generated_title) ?? toText(summary?.session_summary),
      parent:
        toText(summary?.parent_session_id) ??
        (summary?.session_kind === "subagent" ? await findParent(folder, id) : undefined),
    };
  },
  sideFiles: () => ["summary.json"],
  begin: () => ({ last: null, prompts: [], outputs: {} }),
  *decode({ record, line }, state) {
    const id = `L${line}`;
    const update = readUpdate(record) ?? {};
    const meta = toObject((toObject(record.params) ?? record)._meta);
    const at = toMilliseconds(meta?.agentTimestampMs) ?? toMilliseconds(toNumber(record.timestamp));
    const kind = toText(update.sessionUpdate);
    if (kind === "user_message_chunk" || kind === "agent_message_chunk" || kind === "agent_thought_chunk") {
      const own = toObject(update._meta);
      const role = kind === "user_message_chunk" ? "user" : "assistant";
      const key = `${role} ${(role === "user" ? own?.promptIndex : meta?.promptId) ?? ""}`;
      if (state.chunk && state.chunk.key !== key) yield* finishChunk(state);
      if (!state.chunk && role === "user") countPrompt(state, own);
      state.model = toText(own?.modelId) ?? state.model;
      state.chunk ??= { id, key, role, at: at ?? null, parts: [] };
      for (const part of decodeBlocks(update.content))
        addPart(
          state.chunk.parts,
          kind === "agent_thought_chunk" && typeof part !== "string" && part.type === "text"
            ? { type: "reasoning", text: part.text }
            : part,
        );
      return;
    }
    yield* finishChunk(state);
    const callId = toText(update.toolCallId);
    const isEnded = update.status === "completed" || update.status === "failed";
    if (callId !== undefined && kind === "tool_call") {
      const tool = toObject(toObject(update._meta)?.["x.ai/tool"]);
      const name = toText(tool?.name) ?? toText(update.title) ?? toText(update.kind) ?? "";
      const input = (update.rawInput ?? {}) as Json;
      yield* buildMessageRecords(NAME, {
        id,
        at,
        role: "assistant",
        parts: [{ type: "tool-call", callId, name, input }],
        model: state.model,
        rest: { update: omitFields(update, isEnded ? ["content", "rawOutput"] : []) as Json },
      });
      state.last = id;
    } else if (callId === undefined || kind !== "tool_call_update" || !isEnded) {
      if (callId !== undefined && update.content !== undefined)
        state.outputs[callId] = update.content as Json;
      if (kind === "rewind_marker") {
        const target = toNumber(update.target_prompt_index) ?? state.prompts.length;
        if (target < state.prompts.length) {
          state.last = state.prompts[target] ?? null;
          state.prompts.length = target;
          yield { type: "rewind", to: state.last };
        }
      }
      yield buildKeptRecord({ id, at }, record as Json);
    }
    if (callId === undefined || !isEnded) return;
    const { output, rest } = decodeOutput(update, state.outputs[callId]);
    delete state.outputs[callId];
    const result = kind === "tool_call" ? `${id}:result` : id;
    yield* buildMessageRecords(NAME, {
      id: result,
      at,
      role: "tool",
      parts: [{ type: "tool-result", callId, ...(update.status === "failed" && { isError: true }), output }],
      rest: kind === "tool_call" ? undefined : { ...omitFields(update, ["content", "toolCallId"]), ...rest },
    });
    state.last = result;
  },
  *end(state) {
    yield* finishChunk({ ...state });
  },
});

/**
 * Grok Build: the updates of the Agent Client Protocol and its own ones; the pieces of one prompt make up one message. A
 * rewind leaves the lines before it in the file. The window after a compaction is in its own file.
 */
export const grokFormat: Format = {
  ...lines,
  async detect(folder) {
    const sources = await lines.detect(folder);
    if (!folder.folders.includes(CHECKPOINTS)) return sources;
    return sources.map((one) => ({ ...one, paths: [...one.paths, join(folder.path, CHECKPOINTS)] }));
  },
  async *read(source, input) {
    for await (const item of lines.read(source, input)) {
      yield item;
      const update =
        item.type === "record" && item.body.kind === "raw" && readUpdate(item.body.value as JsonObject);
      const file =
        update && update.sessionUpdate === "compaction_checkpoint" && toText(update.checkpoint_file);
      const folder = source.paths.find((path) => path.endsWith(CHECKPOINTS));
      if (file && folder !== undefined) yield* readCompaction(input, folder, join(folder, "..", file));
    }
  },
};

/** The update of a line; the oldest lines have no envelope. */
function readUpdate(record: JsonObject): JsonObject | undefined {
  const update = toObject((toObject(record.params) ?? record).update);
  return toText(update?.sessionUpdate) === undefined ? undefined : update;
}

/** Blocks of the protocol; output of tools may have them inside of another block. */
function decodeBlocks(content: unknown): readonly PartInput[] {
  return (Array.isArray(content) ? content : [content]).flatMap((one) => {
    const block = toObject(toObject(one)?.content) ?? toObject(one);
    const image = block?.type === "image" ? buildDataPart(block.data, block.mimeType) : undefined;
    return image ?? decodeContent(block === undefined ? undefined : [block], NAME);
  });
}

/** The output of a call: `rawOutput` has the whole text, the blocks may be a line for the screen. */
function decodeOutput(update: JsonObject, earlier: Json | undefined) {
  const content = update.content ?? earlier;
  const blocks = content === undefined ? [] : decodeBlocks(content);
  const told = readToldText(update.rawOutput);
  const raw = update.rawOutput;
  if (told === undefined && (blocks.length > 0 || raw === undefined || raw === null))
    return { output: blocks as [], rest: undefined };
  const text = told ?? JSON.stringify(raw);
  const [shown, media] = [blocks.filter(isOther), blocks.filter((part) => !isOther(part))];
  const isCopy = shown.every(
    (part) => typeof part === "object" && part.type === "text" && text.includes(part.text),
  );
  return {
    output: [{ type: "text", text }, ...media] as unknown as [],
    rest: isCopy ? undefined : { content: content as Json },
  };
}

function isOther(part: PartInput): boolean {
  return typeof part === "string" || part.type !== "data";
}

/** The text that a tool gave to the model; its name depends on the tool. */
function readToldText(output: unknown): string | undefined {
  const fields = toObject(output);
  if (!fields) return typeof output === "string" && output !== "" ? output : undefined;
  // Text of programs is kept as bytes.
  const bytes = toArray(fields.stdout);
  if (bytes.length > 0) return Buffer.from(bytes as number[]).toString("utf8");
  const named = ["pre_formatted", "output_for_prompt", "tool_output_for_prompt", "content", "text"];
  const text = named.map((name) => toText(fields[name])).find((one) => one);
  return (
    text ??
    Object.values(fields)
      .map((one) => toObject(one) && readToldText(one))
      .find((one) => one)
  );
}

/** Notes the place of a prompt that a rewind may name. */
function countPrompt(state: GrokState, meta: JsonObject | undefined): void {
  const isNumbered = toNumber(meta?.promptIndex) !== undefined;
  state.isNumbered ||= isNumbered;
  if (meta?.hostTurn !== true && isNumbered === state.isNumbered) state.prompts.push(state.last);
}

function* finishChunk(state: GrokState): Generator<Item> {
  const { chunk, model } = state;
  delete state.chunk;
  if (!chunk) return;
  const id = `chunk:${chunk.id}`;
  yield* buildMessageRecords(NAME, {
    id,
    at: chunk.at ?? undefined,
    role: chunk.role,
    parts: chunk.parts,
    model: chunk.role === "assistant" ? model : undefined,
    isMutable: true,
  });
  if (chunk.parts.length > 0) state.last = id;
}

/**
 * The parent of a sub-agent keeps facts about it; the sub-agent's own folder is next to the parent's, soon after it in
 * the order of names, which begin with a time.
 */
async function findParent(folder: Folder, id: string): Promise<string | undefined> {
  const names = (await folder.folder(".."))?.folders ?? [];
  const own = names.indexOf(folder.name);
  for (const name of [...names.slice(0, own + 1).reverse(), ...names.slice(own + 1)]) {
    const facts = await folder.folder(join("..", name, "subagents", id));
    const parent = facts && toText((await readHeadObject(facts, "meta.json"))?.parent_session_id);
    if (parent !== undefined) return parent;
  }
  return undefined;
}

/** The conversation as the model saw it after a compaction. */
async function* readCompaction(input: Input, folder: string, path: string): AsyncGenerator<Item> {
  if (!isWithin(path, folder)) return;
  const read = await input.json(path);
  if (!read || "type" in read) {
    if (read) yield read;
    return;
  }
  const file = toObject(read.value) ?? {};
  const id = `file:${path.slice(folder.length + 1)}`;
  yield buildKeptRecord({ id }, file as Json);
  const messages = toArray(file.compacted_history).flatMap((item) => decodeHistoryItem(toObject(item)));
  if (messages.length > 0)
    yield buildRecord(
      { id: `${id}:compaction` },
      { kind: "overlay", edit: { type: "summarize", spans: [{}], messages }, reason: "compaction" },
    );
}

function decodeHistoryItem(item: JsonObject | undefined): readonly MessageInput[] {
  if (item?.type === "user") {
    const parts = toArray(item.content).flatMap((block) =>
      decodeContent([toImageUrl(toObject(block)) ?? block], NAME),
    );
    return parts.length > 0 ? [{ role: "user", parts }] : [];
  }
  if (item?.type === "assistant") {
    const calls = toArray(item.tool_calls).flatMap((call) => {
      const { id, name, arguments: input } = toObject(call) ?? {};
      return decodeChatCall({ id, type: "function", function: { name, arguments: input } })?.part ?? [];
    });
    const parts = [...decodeContent(item.content, NAME), ...calls];
    return parts.length > 0 ? [{ role: "assistant", parts }] : [];
  }
  if (item?.type !== "tool_result") return [];
  const output = decodeContent(item.content, NAME) as [];
  return [{ role: "tool", parts: [{ type: "tool-result", callId: String(item.tool_call_id), output }] }];
}

function toImageUrl(block: JsonObject | undefined): JsonObject | undefined {
  return block?.type === "image" ? { type: "image_url", image_url: { url: block.url } } : undefined;
}
