import { basename, join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { decodeChatCall } from "../../wire/openai-chat/chat-content-decode.ts";
import type { Format } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildChatLikeRecords, decodeContent } from "./chat-like-formats.ts";
import { buildKeptRecord, buildMessageRecords } from "./foreign-records.ts";

const EVENT_FILE = /^event-(\d{5,})-([0-9a-fA-F-]{8,})\.json$/;

/** OpenHands: a folder of events for each conversation, one file each. */
export const openhandsFormat: Format = {
  name: "openhands",
  title: "OpenHands",
  processes: ["openhands"],
  homes: ({ home, env }) => [env.OPENHANDS_CONVERSATIONS_DIR || join(home, ".openhands", "conversations")],
  async detect(folder) {
    const base = folder.files.find(({ name }) => name === "base_state.json");
    const events = folder.folders.includes("events") ? await folder.folder("events") : undefined;
    const own = events?.files.filter(({ name }) => EVENT_FILE.test(name)) ?? [];
    if (!base && own.length === 0) return [];
    const files = [...(base ? [base] : []), ...own];
    const state = base && toObject(parseCutJson(await folder.head(base)));
    const cwd = toText(toObject(state?.workspace)?.working_dir);
    return [
      dropUndefined({
        format: "openhands",
        id: toText(state?.id) ?? folder.name,
        path: folder.path,
        paths: [...(base ? [base.path] : []), ...(events ? [events.path] : [])],
        sizeBytes: files.reduce((total, { sizeBytes }) => total + sizeBytes, 0),
        modifiedAt: Math.max(...files.map(({ modifiedAt }) => modifiedAt)),
        cwd,
      }),
    ];
  },
  async *read(source, input) {
    for (const path of source.paths) {
      if (basename(path) === "base_state.json") {
        const read = await input.json(path);
        if (read && "type" in read) yield read;
        else if (read) yield buildKeptRecord({ id: "base_state", isMutable: true }, read.value as Json);
      } else yield* readEvents(path, input);
    }
  },
};

async function* readEvents(path: string, input: Input): AsyncGenerator<Item> {
  const folder = await input.folder(path);
  const files = folder?.files.filter(({ name }) => EVENT_FILE.test(name)) ?? [];
  const numbered = files.map((file) => ({ file, number: Number(EVENT_FILE.exec(file.name)?.[1]) }));
  const known = new Set<string>();
  for (const { file, number } of numbered.sort((one, other) => one.number - other.number)) {
    const read = await input.json(file.path);
    if (!read || "type" in read) {
      if (read) yield read;
      continue;
    }
    const event = toObject(read.value) ?? { value: read.value };
    const id = toText(event.id) ?? `#${number}`;
    for (const item of decodeEvent(event, id, known)) {
      if (item.type === "record") known.add(item.id);
      yield item;
    }
  }
}

function* decodeEvent(event: JsonObject, id: string, known: ReadonlySet<string>): Generator<Item> {
  // Times have no zone; OpenHands writes local ones, which are read as such.
  const at = toTime(event.timestamp);
  const message = toObject(event.llm_message);
  const call = toObject(event.tool_call);
  const rest = (...held: readonly string[]) => omitFields(event, ["id", "timestamp", ...held]);
  const callId = toText(event.tool_call_id);
  if (message) yield* buildChatLikeRecords("openhands", { id, at }, { ...message, ...rest("llm_message") });
  else if (event.kind === "SystemPromptEvent") {
    const text = toText(toObject(event.system_prompt)?.text);
    yield* buildMessageRecords("openhands", {
      id,
      at,
      role: "system",
      parts: text === undefined ? [] : [{ type: "text", text }],
      rest: rest("system_prompt"),
    });
  } else if (event.kind === "ActionEvent" && callId !== undefined) {
    const decoded = decodeChatCall(
      call && "function" in call
        ? call
        : { id: callId, function: { name: event.tool_name, arguments: call?.arguments } },
    )?.part;
    const input = (toObject(event.action) ?? {}) as Json;
    const thought = decodeContent(event.thought, "openhands");
    const reasoning = toText(event.reasoning_content);
    const parts: PartInput[] = [
      ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
      ...thought,
      decoded ?? { type: "tool-call", callId, name: String(event.tool_name ?? ""), input },
    ];
    yield* buildMessageRecords("openhands", {
      id,
      at,
      role: "assistant",
      parts,
      rest: rest("thought", "tool_call", "reasoning_content"),
    });
  } else if (callId !== undefined && (toObject(event.observation) ?? event.error ?? event.rejection_reason)) {
    const observation = toObject(event.observation);
    const failure = event.error ?? event.rejection_reason;
    const content = decodeContent(observation?.content ?? failure, "openhands");
    const shown =
      content.length > 0 ? content : [{ type: "text", text: JSON.stringify(observation) } as const];
    const isError = observation?.is_error === true || failure !== undefined;
    const result: PartInput = {
      type: "tool-result",
      callId,
      name: String(event.tool_name ?? ""),
      ...(isError && { isError }),
      output: shown as [],
    };
    yield* buildMessageRecords("openhands", {
      id,
      at,
      role: "tool",
      parts: [result],
      rest: rest("tool_call_id", "tool_name"),
    });
  } else yield buildKeptRecord({ id, at }, event as Json);
  if (event.kind !== "Condensation") return;
  const spans = toArray(event.forgotten_event_ids).flatMap((forgotten) =>
    known.has(String(forgotten)) ? [{ from: String(forgotten), through: String(forgotten) }] : [],
  );
  const text = toText(event.summary);
  if (spans.length === 0) return;
  const edit =
    text === undefined
      ? ({ type: "hide", spans } as const)
      : ({ type: "summarize", spans, messages: [{ role: "user", text }] } as const);
  yield { type: "record", id: `${id}:edit`, body: { kind: "overlay", edit, reason: "condensation" } };
}
