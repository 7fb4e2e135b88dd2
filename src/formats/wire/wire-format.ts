import { basename, dirname } from "node:path";
import { toObject, toText } from "../../wire/fields.ts";
import type { Format, ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { type FileHead, isJsonName, parseFileHead } from "./file-head.ts";
import { readWholeFile } from "./read-whole-file.ts";
import { recognizeWire } from "./recognize-wire.ts";
import type { WireDialect } from "./wire-dialect.ts";
import { createWireLineDecoder } from "./wire-line-decoder.ts";

/** Creates the format for files with requests and responses in a dialect. */
export function createWireFormat(dialect: WireDialect): Format {
  return {
    name: dialect.name,
    title: dialect.title,
    processes: [],
    homes: () => [],
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!isJsonName(file.name)) continue;
        const head = parseFileHead(await folder.head(file), file);
        if (head && recognizeWire(head) === dialect.name)
          sources.push(buildSource(dialect, folder, file, head));
      }
      return sources;
    },
    async *read(source, input) {
      const name = source.path.replace(/\.(gz|zst)$/i, "");
      if (parseFileHead(await readFirstText(source.path, input), { name })?.layout === "lines")
        yield* decodeLines(input, source.path, (state) => createWireLineDecoder(dialect, state));
      else yield* readWholeFile(dialect, source, input);
    },
  };
}

const HEAD_BYTES = 64 * 1024;

async function readFirstText(path: string, input: Input): Promise<string> {
  for await (const chunk of input.bytes(path)) {
    return chunk
      .subarray(0, HEAD_BYTES)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }
  return "";
}

function buildSource(dialect: WireDialect, folder: Folder, file: FileFacts, head: FileHead): ImportSource {
  const { path, sizeBytes, modifiedAt } = file;
  const root = head.layout === "whole" ? (toObject(head.values[0]) ?? {}) : {};
  const title = toText(root.title);
  return {
    format: dialect.name,
    id: findConversationId(root) ?? buildSourceName(file, folder.path),
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

function findConversationId(root: Readonly<Record<string, unknown>>): string | undefined {
  const own = toText(root.conversation) ?? toText(toObject(root.conversation)?.id);
  const named = ID_FIELDS.map((field) => toText(root[field])).find((id) => id !== undefined);
  const id = own ?? named;
  return id !== undefined && id.length <= 200 ? id : undefined;
}

/** File names that do not identify a conversation. */
const GENERIC_NAMES =
  /^(messages?|requests?|responses?|conversation|chat|history|input|output|body|transcript|session|prompt|completion|data|index|log)$/i;

function buildSourceName(file: FileFacts, folderPath: string): string {
  const name = file.name.replace(/\.[^.]+$/, "");
  return GENERIC_NAMES.test(name) ? `${basename(folderPath) || basename(dirname(folderPath))}/${name}` : name;
}
