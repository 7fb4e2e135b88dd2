import { basename, dirname, join } from "node:path";
import { parseJson } from "../../base/parse-json.ts";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { toPlainId } from "./plain-id.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const AGENT_FILE = /^agent-(.+)\.jsonl$/;
/** Names of other tools' files. */
const FOREIGN_FILE = /^rollout-/;
/** Maximum lines to inspect at the beginning of a file. */
const MAX_LINES = 20;

/** Folder for large tool results, next to a session's file. */
export const TOOL_RESULTS = "tool-results";

/** Finds sessions and sub-agents of Claude Code in a folder. */
export async function detectClaudeCodeSources(folder: Folder): Promise<readonly ImportSource[]> {
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

const SESSION_LINES = [
  "queue-operation",
  "custom-title",
  "ai-title",
  "last-prompt",
  "tag",
  "agent-name",
  "pr-link",
];
