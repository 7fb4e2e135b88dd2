import { basename, dirname } from "node:path";
import { objectOf, textOf } from "../content/fields.ts";
import type { Format, Source } from "../format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Dialect } from "./dialect.ts";
import { type Head, isJsonName, parseHead } from "./head.ts";
import { makeLineDecoder } from "./line-decoder.ts";
import { recogniseWire } from "./recognise.ts";
import { readWholeFile } from "./whole-file.ts";

/** Creates the format for files with requests and responses in a dialect. */
export function wireFormat(dialect: Dialect): Format {
  return {
    name: dialect.name,
    title: dialect.title,
    processes: [],
    homes: () => [],
    async detect(folder) {
      const sources: Source[] = [];
      for (const file of folder.files) {
        if (!isJsonName(file.name)) continue;
        const head = parseHead(await folder.head(file), file);
        if (head && recogniseWire(head) === dialect.name) sources.push(sourceOf(dialect, folder, file, head));
      }
      return sources;
    },
    async *read(source, input) {
      const name = source.path.replace(/\.(gz|zst)$/i, "");
      if (parseHead(await firstText(source.path, input), { name })?.layout === "lines")
        yield* decodeLines(input, source.path, (state) => makeLineDecoder(dialect, state));
      else yield* readWholeFile(dialect, source, input);
    },
  };
}

const HEAD_BYTES = 64 * 1024;

async function firstText(path: string, input: Input): Promise<string> {
  for await (const chunk of input.bytes(path)) {
    return chunk
      .subarray(0, HEAD_BYTES)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }
  return "";
}

function sourceOf(dialect: Dialect, folder: Folder, file: FileFacts, head: Head): Source {
  const { path, sizeBytes, modifiedAt } = file;
  const root = head.layout === "whole" ? (objectOf(head.values[0]) ?? {}) : {};
  const title = textOf(root.title);
  return {
    format: dialect.name,
    id: conversationId(root) ?? nameOf(file, folder.path),
    path,
    paths: [path],
    sizeBytes,
    modifiedAt,
    ...(title !== undefined && { title }),
  };
}

const ID_FIELDS = [
  "conversation_id",
  "conversationId",
  "session_id",
  "sessionId",
  "chat_id",
  "chatId",
  "thread_id",
  "id",
];

function conversationId(root: Readonly<Record<string, unknown>>): string | undefined {
  const own = textOf(root.conversation) ?? textOf(objectOf(root.conversation)?.id);
  const named = ID_FIELDS.map((field) => textOf(root[field])).find((id) => id !== undefined);
  const id = own ?? named;
  return id !== undefined && id.length <= 200 ? id : undefined;
}

/** File names that do not identify a conversation. */
const GENERIC =
  /^(messages?|requests?|responses?|conversation|chat|history|input|output|body|transcript|session|prompt|completion|data|index|log)$/i;

function nameOf(file: FileFacts, folderPath: string): string {
  const name = file.name.replace(/\.[^.]+$/, "");
  return GENERIC.test(name) ? `${basename(folderPath) || basename(dirname(folderPath))}/${name}` : name;
}
