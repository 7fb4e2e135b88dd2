import type { Json, PartInput } from "../../kernel/index.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { nameByPlace } from "../importing/source-identity.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildBlockRecords } from "./anthropic-like-formats.ts";
import { buildKeptRecord, buildMessageRecords, toMilliseconds } from "./foreign-records.ts";

/** The export of Claude.ai: one file with all conversations. */
export const claudeAiFormat: Format = createExportFormat({
  name: "claude-ai",
  title: "Claude.ai export",
  isOwn: (first) => "chat_messages" in first && toText(first.uuid) !== undefined,
  idOf: (conversation) => toText(conversation.uuid),
  titleOf: (conversation) => toText(conversation.name),
  *decode(conversation) {
    const { chat_messages: messages, ...facts } = conversation;
    yield buildKeptRecord(
      { id: "conversation", at: toTime(conversation.created_at), isMutable: true },
      facts as Json,
    );
    for (const [index, value] of toArray(messages).entries()) {
      const message = toObject(value) ?? {};
      const content = toArray(message.content).length > 0 ? message.content : message.text;
      const isCopy =
        typeof message.text === "string" &&
        JSON.stringify(message.content ?? "").includes(JSON.stringify(message.text).slice(1, -1));
      yield* buildBlockRecords(
        "claude-ai",
        { id: toText(message.uuid) ?? `#${index}`, at: toTime(message.created_at), isMutable: true },
        { role: message.sender === "assistant" ? "assistant" : "user", content },
        omitFields(message, [
          "uuid",
          "sender",
          "content",
          ...(isCopy || content === message.text ? ["text"] : []),
        ]),
      );
    }
  },
});

/** The export of ChatGPT: one file with all conversations, each a tree of messages. */
export const chatgptFormat: Format = createExportFormat({
  name: "chatgpt",
  title: "ChatGPT export",
  isOwn: (first) => "mapping" in first,
  idOf: (conversation) => toText(conversation.conversation_id) ?? toText(conversation.id),
  titleOf: (conversation) => toText(conversation.title),
  *decode(conversation) {
    const { mapping, ...facts } = conversation;
    yield buildKeptRecord(
      { id: "conversation", at: toMilliseconds(conversation.create_time), isMutable: true },
      facts as Json,
    );
    const nodes = toObject(mapping) ?? {};
    const places = new Map<string, string | null>();
    let last: string | null = null;
    for (const [key, parentKey, node] of walkTree(nodes)) {
      const before: string | null = parentKey === undefined ? null : (places.get(parentKey) ?? null);
      const message = toObject(node.message);
      const id = toText(message?.id) ?? key;
      const items = message ? decodeChatgpt(message, id, before === last ? undefined : before) : [];
      const isPlaced = items.some(
        (item) => item.type === "record" && item.id === id && item.body.kind === "message",
      );
      yield* items;
      places.set(key, isPlaced ? id : before);
      if (isPlaced) last = id;
    }
    const current = places.get(String(conversation.current_node));
    if (current !== undefined && current !== last) yield { type: "rewind", to: current };
  },
});

/** Yields the nodes of a tree from its root, each before its children. */
function* walkTree(
  nodes: JsonObject,
): Generator<readonly [key: string, parent: string | undefined, node: JsonObject]> {
  const seen = new Set<string>();
  const roots = Object.keys(nodes).filter(
    (key) => !Object.hasOwn(nodes, String(toObject(nodes[key])?.parent)),
  );
  const stack = roots.reverse().map((key): readonly [string, string | undefined] => [key, undefined]);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [key, parent] = next;
    const node = toObject(nodes[key]);
    if (!node || seen.has(key)) continue;
    seen.add(key);
    yield [key, parent, node];
    for (const child of [...toArray(node.children)].reverse()) stack.push([String(child), key]);
  }
}

function decodeChatgpt(message: JsonObject, id: string, parent: string | null | undefined): readonly Item[] {
  const content = toObject(message.content);
  const author = toText(toObject(message.author)?.role);
  const pieces = toArray(content?.parts).filter((piece) => piece !== "");
  const text = toText(content?.text) ?? toText(content?.result);
  const thoughts = toArray(content?.thoughts).map(
    (thought) => `${toObject(thought)?.summary ?? ""}\n${toObject(thought)?.content ?? ""}`,
  );
  const parts: PartInput[] = [
    ...thoughts.map((thought) => ({ type: "reasoning", text: thought }) as const),
    ...pieces.map(
      (piece): PartInput =>
        typeof piece === "string"
          ? { type: "text", text: piece }
          : { type: "raw", format: "chatgpt", value: piece as Json },
    ),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
  ];
  const model = toText(toObject(message.metadata)?.model_slug);
  return buildMessageRecords("chatgpt", {
    id,
    at: toMilliseconds(toNumber(message.create_time)),
    parent,
    role: author === "assistant" || author === "system" ? author : author === "tool" ? "assistant" : "user",
    parts,
    model,
    rest: {
      ...omitFields(message, ["id", "content", "create_time"]),
      ...(content && { content: omitFields(content, ["parts", "text", "result", "thoughts"]) as Json }),
    },
    isMutable: true,
  });
}

/** The description of a service whose export is one file with all conversations. */
interface ExportDescription {
  readonly name: ImportSource["format"];
  readonly title: string;
  isOwn(first: JsonObject): boolean;
  idOf(conversation: JsonObject): string | undefined;
  titleOf(conversation: JsonObject): string | undefined;
  decode(conversation: JsonObject): Iterable<Item>;
}

/** Creates the reader of an export; the file is one source, and each conversation in it a child. */
function createExportFormat({ name, title, isOwn, idOf, titleOf, decode }: ExportDescription): Format {
  return {
    name,
    title,
    processes: [],
    homes: () => [],
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!/^conversations(-\d+)?\.json$/.test(file.name)) continue;
        const parsed = parseCutJson(await folder.head(file));
        const first = toObject(Array.isArray(parsed) ? parsed[0] : undefined);
        if (first && isOwn(first)) sources.push(buildFileSource(name, file, { id: "export", title }));
      }
      return sources;
    },
    async *read({ path }, input) {
      yield { type: "session", title };
      for await (const element of input.jsonElements(path)) {
        const { index, value } = element;
        const problem = input.elementProblem(path, element);
        if (problem) yield problem;
        const conversation = toObject(value);
        if (!conversation) continue;
        const child = idOf(conversation) ?? nameByPlace(`#${index}`, path);
        const named = titleOf(conversation);
        if (named !== undefined) yield { type: "session", child, title: named };
        for (const item of decode(conversation))
          yield item.type === "record" || item.type === "rewind" || item.type === "line"
            ? { ...item, child }
            : item;
      }
    },
  };
}
