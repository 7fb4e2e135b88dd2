import { basename, dirname, join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined, toNumber, toObject, toText } from "../../wire/fields.ts";
import { parseDays, readAgentSettings } from "../content/agent-settings.ts";
import { addFacts, NO_FACTS } from "../content/session-facts.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildChatSessionItem, ChatDecoder } from "./chat-decoder.ts";
import { buildChatRecords } from "./message-records.ts";

/** Chats of Gemini CLI: one JSONL file each; older versions used one JSON file. */
export const geminiCliFormat: Format = {
  name: "gemini-cli",
  title: "Gemini CLI",
  processes: ["gemini"],
  homes({ home, env }) {
    return [join(toText(env.GEMINI_CLI_HOME) ?? home, ".gemini", "tmp")];
  },
  async retention({ home, env }) {
    const file = join(toText(env.GEMINI_CLI_HOME) ?? home, ".gemini", "settings.json");
    const general = toObject((await readAgentSettings([file])).general);
    const { enabled = true, maxAge = "30d", maxCount } = toObject(general?.sessionRetention) ?? {};
    const days = parseDays(String(maxAge));
    if (enabled === false)
      return { rule: "kept until you delete them (general.sessionRetention.enabled is false)" };
    return {
      ...dropUndefined({ days, mostPerProject: toNumber(maxCount) }),
      rule: `deleted ${maxAge} after the last change (general.sessionRetention in settings.json)`,
    };
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
        sources.push(buildSource(file, older, first, folder, await readProjectRoot(folder)));
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

/** Reads the folder of the project, which newer versions write next to its chats. */
async function readProjectRoot(folder: Folder): Promise<string | undefined> {
  const project = folder.name === "chats" ? await folder.folder("..") : undefined;
  const file = project?.files.find(({ name }) => name === ".project_root");
  return file && project ? toText((await project.head(file)).trim()) : undefined;
}

function buildSource(
  file: FileFacts,
  older: readonly FileFacts[],
  first: JsonObject,
  folder: Folder,
  root: string | undefined,
): ImportSource {
  const { path, sizeBytes, modifiedAt } = file;
  const id = toText(first.sessionId) ?? "";
  // Sub-agents are in a folder named after their parent chat.
  const isBelow = basename(dirname(folder.path)) === "chats" && folder.name !== id;
  const parent = isBelow ? folder.name : undefined;
  const cwd = toText(Array.isArray(first.directories) ? first.directories[0] : undefined) ?? root;
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

/** Reads a chat of older versions, which rewrote one JSON file with every message. */
async function* readChatFile(path: string, input: Input): AsyncGenerator<Item> {
  let facts = NO_FACTS;
  let told = NO_FACTS;
  let last: string | null = null;
  let count = 0;
  for await (const { field, index, line, value, problem, isCut } of input.jsonElements(path, ["messages"])) {
    if (problem !== undefined && !(isCut && input.isLive))
      yield {
        type: "problem",
        path,
        line,
        severity: value === undefined ? "lost" : "damaged",
        reason: problem,
      };
    if (value === undefined) continue;
    if (index === undefined) {
      const added = addFacts(facts, { [field]: value });
      facts = added.facts;
      if (added.large) yield buildRawRecord(field, added.large);
      continue;
    }
    count++;
    if (facts !== told) {
      told = facts;
      yield buildChatSessionItem(facts);
    }
    const message = toObject(value);
    if (!message) {
      yield buildRawRecord(`#${index}`, value as Json);
      continue;
    }
    // Each record follows the previous one in the file, so deleted messages drop off the line.
    for (const record of buildChatRecords(message, toText(message.id) ?? `#${index}`)) {
      yield { ...record, parent: last };
      last = record.id;
    }
  }
  if (facts !== told) yield buildChatSessionItem(facts);
  const before = toObject(input.resume)?.messages;
  if (typeof before === "number" && count < before) yield { type: "rewind", to: last };
  yield { type: "checkpoint", state: { messages: count } };
}

function buildRawRecord(id: string, value: Json): Item {
  return {
    type: "record",
    id,
    version: computeFingerprint(JSON.stringify(value)),
    body: { kind: "raw", value },
  };
}
