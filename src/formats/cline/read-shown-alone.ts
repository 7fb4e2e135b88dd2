import type { Json, MessageInput, PartInput, Role } from "../../index.ts";
import { dropUndefined, omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import type { Item } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { ElementFile } from "./element-file.ts";
import { hashRecordVersion } from "./record-version.ts";
import {
  buildPartImage,
  buildShownId,
  buildShownUsageBody,
  getShownKind,
  parseJsonObject,
  readShownUsage,
  type UsageReader,
} from "./shown-message.ts";

/** Kinds written by the person; all others come from the tool or the model. */
const FROM_PERSON = new Set(["user_feedback", "user_feedback_diff", "task"]);
/** Kinds with text from the model. */
const FROM_MODEL = new Set([
  "text",
  "completion_result",
  "followup",
  "plan_mode_respond",
  "task_progress",
  "new_task",
  "condense",
  "summarize_task",
]);
/** Kinds that request a tool, and the tool's name if the text does not give it. */
const CALLS: ReadonlyMap<string, string | undefined> = new Map([
  ["tool", undefined],
  ["command", "execute_command"],
  ["use_mcp_server", "use_mcp_server"],
]);
/** Kinds that answer a call, and the kind they answer. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ["command_output", "command"],
  ["mcp_server_response", "use_mcp_server"],
]);

/**
 * Reads the shown messages if the conversation is missing: each becomes one message. Fields that our message cannot
 * represent go into its meta, so the same file can be written again.
 */
export async function* readShownAlone(
  file: ElementFile,
  format: "cline" | "roo",
  usageOf: UsageReader,
): AsyncGenerator<Item> {
  /** The latest unanswered call of each kind. */
  const open = new Map<string, string>();
  for (let element = await file.take(); element; element = await file.take()) {
    yield* file.problems.splice(0);
    const { index, value } = element;
    const [id, at] = [buildShownId(index), toTime(value.ts)];
    const message = buildMessage(value, { id, isFirst: index === 0, open, format });
    yield {
      type: "record",
      id,
      // The same record gets other content once the conversation is available.
      version: `alone ${hashRecordVersion(value)}`,
      ...dropUndefined({ at }),
      body: { kind: "message", message },
    };
    const usage = readShownUsage(value, usageOf);
    if (usage)
      yield {
        type: "record",
        id: `${id}:usage`,
        version: hashRecordVersion(usage),
        ...dropUndefined({ at }),
        body: { ...buildShownUsageBody(value, usage, id), meta: { [format]: { of: id } } },
      };
  }
  yield* file.problems.splice(0);
}

interface ShownContext {
  readonly id: string;
  readonly isFirst: boolean;
  readonly open: Map<string, string>;
  readonly format: "cline" | "roo";
}

function buildMessage(shown: JsonObject, context: ShownContext): MessageInput {
  const { role, parts, fields, request, call } = decodeShown(shown, context);
  const images = toArray(shown.images).map((url) => ({ url: url as Json, part: parseDataUrl(url) }));
  const parted = images.flatMap(({ part }) => part ?? []);
  const hasImages = parted.length > 0;
  const kept = {
    shown: omitFields(shown, [...fields, ...(hasImages ? ["images"] : [])]) ?? {},
    ...(hasImages && { images: images.map(({ url, part }) => (part ? buildPartImage(url) : url)) }),
    ...dropUndefined({ request, call }),
  };
  const model = toText(toObject(shown.modelInfo)?.modelId);
  return {
    role,
    parts: [...parts, ...parted],
    meta: { [context.format]: kept as Json },
    ...dropUndefined({ model: role === "assistant" ? model : undefined }),
  };
}

interface ShownContent {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  /** Fields of the shown message that the parts represent. */
  readonly fields: readonly string[];
  /** Fields of a request's text other than the request itself. */
  readonly request?: { readonly [field: string]: Json };
  /** "text" if the call could not be parsed and holds the text unchanged. */
  readonly call?: "text";
}

function decodeShown(shown: JsonObject, context: ShownContext): ShownContent {
  const kind = getShownKind(shown) ?? "";
  const text = toText(shown.text);
  if (text === undefined) return { role: "system", parts: [], fields: [] };
  const words = (role: Role): ShownContent => ({ role, parts: [{ type: "text", text }], fields: ["text"] });
  if (CALLS.has(kind)) return decodeShownCall(kind, text, context);
  const answered = ANSWERS.get(kind);
  const callId = answered === undefined ? undefined : context.open.get(answered);
  if (answered !== undefined) {
    // A command's output comes in pieces; a call has one result, so further pieces become plain text.
    if (callId === undefined) return words("user");
    context.open.delete(answered);
    return { role: "tool", parts: [{ type: "tool-result", callId, output: text }], fields: ["text"] };
  }
  if (kind === "api_req_started") return decodeShownRequest(text) ?? words("user");
  if (kind === "reasoning")
    return { role: "assistant", parts: [{ type: "reasoning", text }], fields: ["text"] };
  // The first shown message is the person's request, whatever its kind.
  if (context.isFirst || FROM_PERSON.has(kind)) return words("user");
  return words(FROM_MODEL.has(kind) ? "assistant" : "system");
}

function decodeShownCall(kind: string, text: string, { id, open }: ShownContext): ShownContent {
  const input = kind === "command" ? { command: text } : parseJsonObject(text);
  // Parse only calls that can be written again exactly.
  const isExact = kind === "command" || JSON.stringify(input) === text;
  const name = CALLS.get(kind) ?? toText(input?.tool) ?? kind;
  open.set(kind, id);
  return {
    role: "assistant",
    parts: [{ type: "tool-call", callId: id, name, input: (isExact ? input : { text }) as Json }],
    fields: ["text"],
    ...(!isExact && { call: "text" }),
  };
}

/** Parses the text of a request: the sent text plus usage. */
function decodeShownRequest(text: string): ShownContent | undefined {
  const info = parseJsonObject(text);
  const isExact = info && Object.keys(info)[0] === "request" && JSON.stringify(info) === text;
  if (!isExact || typeof info.request !== "string") return undefined;
  return {
    role: "user",
    parts: [{ type: "text", text: info.request }],
    fields: ["text"],
    request: omitFields(info, ["request"]) ?? {},
  };
}
