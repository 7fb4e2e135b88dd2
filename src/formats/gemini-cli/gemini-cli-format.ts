import { basename, dirname, join } from "node:path";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";
import type { Format, ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { ChatDecoder } from "./chat-decoder.ts";
import { readChatFile } from "./read-chat-file.ts";

/** Chats of Gemini CLI: one JSONL file each; older versions used one JSON file. */
export const geminiCliFormat: Format = {
  name: "gemini-cli",
  title: "Gemini CLI",
  processes: ["gemini"],
  homes({ home, env }) {
    return [join(toText(env.GEMINI_CLI_HOME) ?? home, ".gemini", "tmp")];
  },
  async detect(folder) {
    const sources: ImportSource[] = [];
    const chats = folder.files.filter(({ name }) => /\.jsonl?$/.test(name));
    for (const file of chats) {
      // A resumed old chat is rewritten completely as JSONL next to the old file.
      const { name } = file;
      if (name.endsWith(".json") && chats.some((other) => other.name === `${name}l`)) continue;
      const older = chats.filter((other) => name.endsWith(".jsonl") && `${other.name}l` === name);
      const first = parseFirstRecord(await folder.head(file), name);
      if (first && toText(first.sessionId) !== undefined && toText(first.projectHash) !== undefined)
        sources.push(buildSource(file, older, first, folder));
    }
    return sources;
  },
  read({ path }, input) {
    if (/\.json(\.(gz|zst))?$/i.test(path)) return readChatFile(path, input);
    return decodeLines(input, path, (state) => new ChatDecoder(path, state));
  },
};

/** Parses the first line of a JSONL file, or the visible beginning of a JSON file. */
function parseFirstRecord(head: string, name: string): JsonObject | undefined {
  const text = head.trimStart();
  return toObject(parseCutJson(name.endsWith(".jsonl") ? (text.split("\n", 1)[0] ?? "") : text));
}

function buildSource(
  file: FileFacts,
  older: readonly FileFacts[],
  first: JsonObject,
  folder: Folder,
): ImportSource {
  const { path, sizeBytes, modifiedAt } = file;
  const id = toText(first.sessionId) ?? "";
  // Sub-agents are in a folder named after their parent chat.
  const isBelow = basename(dirname(folder.path)) === "chats" && folder.name !== id;
  const parent = isBelow ? folder.name : undefined;
  const cwd = toText(Array.isArray(first.directories) ? first.directories[0] : undefined);
  const title = toText(first.summary);
  return {
    format: "gemini-cli",
    id,
    path,
    paths: [path, ...older.map((one) => one.path)],
    sizeBytes,
    modifiedAt,
    ...dropUndefined({ parent, cwd, title }),
  };
}
