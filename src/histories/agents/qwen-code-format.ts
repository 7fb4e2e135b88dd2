import { join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { omitFields, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { decodeGeminiContent } from "../gemini-cli/gemini-parts.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage } from "./foreign-records.ts";
import { createLinesFormat } from "./lines-format.ts";

const NAME = "qwen-code";
const KNOWN = ["uuid", "parentUuid", "sessionId", "timestamp", "type", "message", "usageMetadata", "model"];
/** Fields that every line repeats. */
const REPEATED = ["cwd", "version", "gitBranch"];

interface QwenState {
  last: string | null;
  /** The records of the latest lines, because a line that is kept raw may be a parent too. */
  records: Record<string, string | null>;
  facts: string;
}

/** Qwen Code: lines that name their parents and hold the content of Gemini's API. */
export const qwenCodeFormat: Format = createLinesFormat<QwenState>({
  name: NAME,
  title: "Qwen Code",
  processes: ["qwen"],
  homes: ({ home, env }) => [join(env.QWEN_HOME || join(home, ".qwen"), "projects")],
  recognize(first, file) {
    const line = first.find(({ uuid, sessionId, type }) => toText(uuid) && toText(sessionId) && toText(type));
    if (!line || !("parentUuid" in line) || line.isSidechain !== undefined) return undefined;
    const isQwen =
      first.some(({ message }) => toObject(message)?.parts !== undefined) || "provenance" in line;
    const parent = first.find(({ subtype }) => subtype === "parent_session");
    const id = toText(line.sessionId) ?? file.name.replace(/\.jsonl$/, "");
    const payload = toObject(parent?.systemPayload);
    return isQwen || /[\\/]chats[\\/]/.test(file.path)
      ? { id, cwd: toText(line.cwd), parent: toText(payload?.parentSessionId) }
      : undefined;
  },
  begin: () => ({ last: null, records: {}, facts: "" }),
  *decode({ record, line }, state) {
    const id = toText(record.uuid) ?? `L${line}`;
    yield* reportFacts(record, state);
    const before = typeof record.parentUuid === "string" ? state.records[record.parentUuid] : null;
    const parent = before === undefined || before === state.last ? undefined : before;
    const records = decodeRecord(record, id, parent);
    const isMessage = records[0]?.type === "record" && records[0].body.kind === "message";
    yield* records;
    // A rewind names the line to continue from; the next line has it as its parent.
    const place = isMessage ? id : (before ?? state.last);
    state.records[id] = place;
    state.last = place;
    const names = Object.keys(state.records);
    if (names.length > 4_000) for (const name of names.slice(0, 2_000)) delete state.records[name];
  },
});

function* reportFacts(record: JsonObject, state: QwenState): Generator<Item> {
  const facts = Object.fromEntries(
    REPEATED.flatMap((field) => (record[field] === undefined ? [] : [[field, record[field] as Json]])),
  );
  const text = JSON.stringify(facts);
  if (text !== state.facts && text !== "{}") yield { type: "session", meta: { [NAME]: facts } };
  state.facts = text;
  if (record.subtype === "custom_title") {
    const title = toText(toObject(record.systemPayload)?.customTitle);
    if (title !== undefined) yield { type: "session", title };
  }
}

function decodeRecord(record: JsonObject, id: string, parent: string | null | undefined): readonly Item[] {
  const at = toTime(record.timestamp);
  const content = toObject(record.message);
  if (!content || record.type === "system") return [buildKeptRecord({ id, at }, record as Json)];
  const { parts, extras } = decodeGeminiContent(content.parts, id);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  const counts = toObject(record.usageMetadata);
  const cached = toNumber(counts?.cachedContentTokenCount) ?? 0;
  return buildMessageRecords(NAME, {
    id,
    at,
    parent,
    role: isAnswer ? "tool" : content.role === "model" ? "assistant" : "user",
    parts,
    model: toText(record.model),
    rest: { ...omitFields(record, [...KNOWN, ...REPEATED]), ...(extras && { extras }) },
    usage:
      counts &&
      buildUsage({
        inputTokens: Math.max(0, (toNumber(counts.promptTokenCount) ?? 0) - cached),
        outputTokens:
          (toNumber(counts.candidatesTokenCount) ?? 0) + (toNumber(counts.thoughtsTokenCount) ?? 0),
        cacheReadTokens: cached,
        reasoningTokens: toNumber(counts.thoughtsTokenCount),
      }),
  });
}
