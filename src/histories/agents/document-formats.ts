import { join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { decodeChatCall } from "../../wire/openai-chat/chat-content-decode.ts";
import {
  buildFileSource,
  type Format,
  type ImportSource,
  type SourceFacts,
  type System,
} from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildBlockRecords } from "./anthropic-like-formats.ts";
import { buildChatLikeRecords, decodeContent } from "./chat-like-formats.ts";
import { buildKeptRecord, buildMessageRecords, toMilliseconds } from "./foreign-records.ts";

/** The description of an agent that writes a JSON document for each conversation. */
interface DocumentDescription {
  readonly name: ImportSource["format"];
  readonly title: string;
  readonly processes: readonly string[];
  homes(system: System): readonly string[];
  readonly fileName: RegExp;
  /** Recognizes a document by its beginning. */
  recognize(head: JsonObject, stem: string): SourceFacts | undefined;
  /** The list that holds the messages; it is read element by element. */
  readonly list: string;
  /** Turns an element of the list into items. */
  decode(element: JsonObject, index: number): Iterable<Item>;
}

/** Creates the reader of an agent that writes JSON documents. */
function createDocumentFormat({
  name,
  title,
  processes,
  homes,
  fileName,
  recognize,
  list,
  decode,
}: DocumentDescription): Format {
  return {
    name,
    title,
    processes,
    homes,
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!fileName.test(file.name)) continue;
        const head = toObject(parseCutJson(await folder.head(file)));
        const facts = head && recognize(head, file.name.replace(/\.json$/, ""));
        if (facts) sources.push(buildFileSource(name, file, facts));
      }
      return sources;
    },
    async *read({ path }, input) {
      const facts: [string, Json][] = [];
      for await (const element of input.jsonElements(path, [list])) {
        const { field, index, value } = element;
        const problem = input.elementProblem(path, element);
        if (problem) yield problem;
        if (value === undefined) continue;
        if (field === list && index !== undefined) yield* decode(toObject(value) ?? { value }, index);
        else facts.push([field, value as Json]);
      }
      if (facts.length > 0)
        yield buildKeptRecord({ id: "document", isMutable: true }, Object.fromEntries(facts));
    },
  };
}

/** Continue: the history of each session; tool calls carry their own results. */
export const continueFormat: Format = createDocumentFormat({
  name: "continue",
  title: "Continue",
  processes: ["cn"],
  homes: ({ home, env }) => [join(env.CONTINUE_GLOBAL_DIR || join(home, ".continue"), "sessions")],
  fileName: /^(?!sessions\.json$).+\.json$/,
  recognize: (head) =>
    toText(head.sessionId) !== undefined &&
    "workspaceDirectory" in head &&
    ("history" in head || "title" in head)
      ? { id: String(head.sessionId), title: toText(head.title), cwd: toText(head.workspaceDirectory) }
      : undefined,
  list: "history",
  *decode(element, index) {
    const message = toObject(element.message);
    const id = `#${index}`;
    if (!message) return yield buildKeptRecord({ id, isMutable: true }, element as Json);
    const { toolCalls, toolCallId, ...own } = message;
    const states = toArray(element.toolCallStates).map((state) => toObject(state) ?? {});
    const reasoning =
      toText(toObject(element.reasoning)?.text) ??
      (message.role === "thinking" ? toText(message.content) : undefined);
    const parts: PartInput[] = [
      ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
      ...(message.role === "thinking" ? [] : decodeContent(renameImages(own.content), "continue")),
      ...toArray(toolCalls).map(
        (call): PartInput =>
          decodeChatCall(call)?.part ?? { type: "raw", format: "continue", value: call as Json },
      ),
    ];
    if (own.role === "tool") {
      yield* buildChatLikeRecords("continue", { id, isMutable: true }, { ...own, tool_call_id: toolCallId });
      return;
    }
    const role = own.role === "user" || own.role === "system" ? own.role : "assistant";
    const rest = {
      ...omitFields(element, ["message", "reasoning"]),
      ...omitFields(own, ["role", "content", "id"]),
    };
    yield* buildMessageRecords("continue", { id, role, parts, rest, isMutable: true });
    const results = states.flatMap(({ toolCallId: callId, output, status }): PartInput[] => {
      if (toText(callId) === undefined || toArray(output).length === 0) return [];
      const texts = toArray(output).map(
        (item) => ({ type: "text", text: String(toObject(item)?.content ?? "") }) as const,
      );
      return [
        {
          type: "tool-result",
          callId: String(callId),
          ...(status === "errored" && { isError: true }),
          output: texts,
        },
      ];
    });
    yield* buildMessageRecords("continue", {
      id: `${id}:results`,
      role: "tool",
      parts: results,
      isMutable: true,
    });
  },
});

/** Continue names the field of images in its own way. */
function renameImages(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part) => {
    const fields = toObject(part);
    return fields?.type === "imageUrl" ? { type: "image_url", image_url: fields.imageUrl } : part;
  });
}

/** Amp until March 2026: the threads on disk, before they moved to its server. */
export const ampFormat: Format = {
  ...createDocumentFormat({
    name: "amp",
    title: "Amp",
    processes: ["amp"],
    homes: ({ home, env }) => [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "amp", "threads")],
    fileName: /^T-.+\.json$/,
    recognize: (head, stem) =>
      "messages" in head || "created" in head
        ? { id: toText(head.id) ?? stem, title: toText(head.title), cwd: findTree(head) }
        : undefined,
    list: "messages",
    *decode(element, index) {
      const id = element.messageId === undefined ? `#${index}` : `m${element.messageId}`;
      const meta = toObject(element.meta);
      const at = toMilliseconds(meta?.sentAt) ?? toTime(toObject(element.usage)?.timestamp);
      const content = toArray(element.content).map((block) => convertResult(toObject(block)) ?? block);
      yield* buildBlockRecords(
        "amp",
        { id, at, isMutable: true },
        { role: element.role, content },
        omitFields(element, ["role", "content", "messageId"]),
      );
    },
  }),
  retention: async () => ({
    rule: "on Amp's server since 31 March 2026; older threads stay on disk until you delete them",
  }),
};

function findTree(head: JsonObject): string | undefined {
  const [tree] = toArray(toObject(toObject(head.env)?.initial)?.trees);
  return toText(toObject(tree)?.uri)?.replace(/^file:\/\//, "");
}

/** Amp's results name their call and hold the state of its run. */
function convertResult(block: JsonObject | undefined): JsonObject | undefined {
  if (block?.type !== "tool_result" || block.tool_use_id !== undefined) return undefined;
  const run = toObject(block.run);
  const result = run?.result ?? run?.error ?? run ?? "";
  const content = typeof result === "string" ? result : JSON.stringify(result);
  return {
    type: "tool_result",
    tool_use_id: block.toolUseID,
    content,
    is_error: run?.status === "error",
    run,
  };
}
