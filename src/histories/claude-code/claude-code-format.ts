import { isUtf8 } from "node:buffer";
import { basename, dirname, join } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { toNumber, toObject, toText } from "../../wire/fields.ts";
import { readAgentSettings } from "../content/agent-settings.ts";
import type { Format, ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createClaudeCodeDecoder, type DecodedFile } from "./claude-code-decoder.ts";
import type { Fields } from "./line-records.ts";
import { OWN_FIELD } from "./own-fields.ts";
import { toPlainId } from "./plain-id.ts";

/** Days after which Claude Code deletes a session unless its settings name others. */
const DEFAULT_DAYS = 30;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const AGENT_FILE = /^agent-(.+)\.jsonl$/;
/** Names of other tools' files. */
const FOREIGN_FILE = /^rollout-/;
/** Maximum lines to inspect at the beginning of a file. */
const MAX_LINES = 20;

/** Folder for large tool results, next to a session's file. */
const TOOL_RESULTS = "tool-results";

const SESSION_LINES = [
  "queue-operation",
  "custom-title",
  "ai-title",
  "last-prompt",
  "tag",
  "agent-name",
  "pr-link",
];

/** Sessions of Claude Code: one JSONL file each, with separate files for sub-agents. */
export const claudeCodeFormat: Format = {
  name: "claude-code",
  title: "Claude Code",
  processes: ["claude"],
  homes: ({ home, env }) =>
    env.CLAUDE_CONFIG_DIR
      ? [join(env.CLAUDE_CONFIG_DIR, "projects")]
      : [join(home, ".claude", "projects"), join(home, ".config", "claude", "projects")],
  async retention({ home, env }) {
    const folder = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
    const settings = await readAgentSettings([
      join(folder, "settings.json"),
      join(folder, "settings.local.json"),
    ]);
    const days = Math.max(0, toNumber(settings.cleanupPeriodDays) ?? DEFAULT_DAYS);
    return { days, rule: `deleted after ${days} days without a change (cleanupPeriodDays in settings.json)` };
  },
  detect: detectClaudeCodeSources,
  read: readSource,
};

function readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  // Fast path: most sessions are a single file.
  if (source.paths.length === 1 && source.parent === undefined)
    return decodeLines(input, source.path, (state) =>
      createClaudeCodeDecoder({ isLive: input.isLive }, state),
    );
  return readFiles(source, input);
}

async function* readFiles(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const file = yield* describeDecodedFile(source, input);
  const results = await ToolResultFiles.of(source, input);
  for await (const item of decodeLines(input, source.path, (state) => createClaudeCodeDecoder(file, state))) {
    yield item;
    if (results) yield* results.readFilesOf(item);
  }
  // After a resume, messages before the checkpoint are not read again, so unmatched result files are not orphans.
  if (results && input.resume === undefined) yield* results.readUnclaimed();
}

async function* describeDecodedFile(source: ImportSource, input: Input): AsyncGenerator<Item, DecodedFile> {
  const { isLive } = input;
  if (source.parent === undefined) return { isLive };
  const agentId = source.id.slice(source.parent.length + "/agent-".length);
  const path = source.paths[1];
  const read = path === undefined ? undefined : await input.json(path);
  if (read && "type" in read) yield read;
  const { [OWN_FIELD]: own, ...facts } = (read && "value" in read && toObject(read.value)) || {};
  const callId = toObject(own)?.callId;
  if (typeof callId === "string") yield { type: "session", meta: { callId } };
  return { agentId, isLive, ...(Object.keys(facts).length > 0 && { facts: { agent: facts as Fields } }) };
}

/** Files with tool results too large for the conversation; each is emitted once, after the message it belongs to. */
class ToolResultFiles {
  readonly #input: Input;
  /** Files by call id, which is their name without its extension. */
  readonly #files: Map<string, FileFacts>;

  private constructor(input: Input, files: readonly FileFacts[]) {
    this.#input = input;
    this.#files = new Map(files.map((file) => [file.name.replace(/\.[^.]*$/, ""), file]));
  }

  /** Lists the files of a source; undefined if it has none. */
  static async of(source: ImportSource, input: Input): Promise<ToolResultFiles | undefined> {
    const path = source.paths.find((one) => basename(one) === TOOL_RESULTS);
    const folder = path === undefined ? undefined : await input.folder(path);
    return folder && new ToolResultFiles(input, folder.files);
  }

  /** Emits the files of the results in an item. */
  async *readFilesOf(item: Item): AsyncGenerator<Item> {
    if (item.type !== "record" || item.body.kind !== "message") return;
    for (const part of item.body.message.parts ?? []) {
      const stem =
        part.type === "tool-result" ? findFileStem(part.callId, part.output, this.#files) : undefined;
      if (stem !== undefined) yield* this.#read(stem, item);
    }
  }

  /** Emits the files that no message refers to. */
  async *readUnclaimed(): AsyncGenerator<Item> {
    for (const stem of [...this.#files.keys()]) yield* this.#read(stem, {});
  }

  async *#read(stem: string, { at, child }: Partial<RecordItem>): AsyncGenerator<Item> {
    const file = this.#files.get(stem) as FileFacts;
    this.#files.delete(stem);
    const text = await this.#input.text(file.path);
    if (text === undefined) return;
    if (typeof text !== "string") {
      yield text;
      return;
    }
    const content = text.includes("\uFFFD") ? await this.#readTextOrBase64(file) : { text };
    const body = { kind: "raw", value: { toolResultFile: { name: file.name, ...content } } } as const;
    yield { type: "record", id: `${stem}:tool-result-file`, ...dropUndefined({ at, child }), body };
  }

  /** Reads a file as text, or as base64 if it is not UTF-8. */
  async #readTextOrBase64(file: FileFacts): Promise<{ readonly text: string } | { readonly base64: string }> {
    const pieces: Buffer[] = [];
    for await (const chunk of this.#input.bytes(file.path)) pieces.push(Buffer.from(chunk));
    const bytes = Buffer.concat(pieces);
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  }
}

/** Finds the file of a result: named after the call, or as the result says. */
function findFileStem(
  callId: string,
  output: unknown,
  files: ReadonlyMap<string, FileFacts>,
): string | undefined {
  if (files.has(callId)) return callId;
  const said =
    typeof output === "string" ? /[/\\]tool-results[/\\]([\w.-]+?)\.\w+/.exec(output)?.[1] : undefined;
  return said !== undefined && files.has(said) ? said : undefined;
}

/** Finds sessions and sub-agents of Claude Code in a folder. */
async function detectClaudeCodeSources(folder: Folder): Promise<readonly ImportSource[]> {
  const sources: ImportSource[] = [];
  for (const file of folder.files) {
    if (!file.name.endsWith(".jsonl") || FOREIGN_FILE.test(file.name)) continue;
    const lines = parseFirstLines(await folder.head(file));
    if (lines) sources.push(await buildSource(file, lines, folder));
  }
  return sources;
}

async function buildSource(
  file: FileFacts,
  lines: readonly JsonObject[],
  folder: Folder,
): Promise<ImportSource> {
  const first = (field: string) =>
    lines.map((line) => toText(line[field])).find((value) => value !== undefined);
  const base = {
    format: "claude-code" as const,
    path: file.path,
    sizeBytes: file.sizeBytes,
    modifiedAt: file.modifiedAt,
    ...dropUndefined({ cwd: first("cwd") }),
  };
  const agentId = AGENT_FILE.exec(file.name)?.[1];
  if (agentId !== undefined) {
    const parent = toPlainId(first("sessionId") ?? basename(dirname(folder.path)));
    const facts = folder.files.find(({ name }) => name === `agent-${agentId}.meta.json`);
    return {
      ...base,
      id: `${parent}/agent-${toPlainId(agentId)}`,
      parent,
      paths: [file.path, ...(facts ? [facts.path] : [])],
    };
  }
  const stem = file.name.replace(/\.jsonl$/, "");
  const id = UUID.exec(stem)?.[0] ?? toPlainId(first("sessionId") ?? stem);
  const results = folder.folders.includes(id) ? await folder.folder(join(id, TOOL_RESULTS)) : undefined;
  return { ...base, id, paths: [file.path, ...(results ? [results.path] : [])] };
}

/** Parses the first lines of a file; undefined if it is not Claude Code's. */
function parseFirstLines(head: string): readonly JsonObject[] | undefined {
  const texts = head.split("\n", MAX_LINES + 1);
  const lines = texts.slice(0, MAX_LINES).flatMap(parseLine);
  if (lines.length > 0) return lines.some(isLine) ? lines : undefined;
  // A single line longer than the head: its visible fields must suffice.
  const isCut = texts.length === 1 && /"parentUuid":/.test(head) && /"isSidechain":/.test(head);
  const sessionId = /"sessionId":\s*"([^"]+)"/.exec(head)?.[1];
  return isCut && sessionId !== undefined ? [{ sessionId }] : undefined;
}

function parseLine(text: string): readonly JsonObject[] {
  try {
    const line = toObject(parseJson(text));
    return line ? [line] : [];
  } catch {
    return [];
  }
}

/** Tells Claude Code's lines from those of other tools. */
function isLine(line: JsonObject): boolean {
  if (typeof line.type !== "string") return false;
  if (typeof line.uuid === "string" && typeof line.sessionId === "string")
    return line.parentUuid !== undefined;
  if (line.type === "summary") return typeof line.leafUuid === "string";
  if (line.type === "file-history-snapshot") return typeof line.messageId === "string";
  return SESSION_LINES.includes(line.type) && typeof line.sessionId === "string";
}
