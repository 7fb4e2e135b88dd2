import type { Json, MessageInput, PartInput, Role } from "../../index.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf, timeOf } from "../content/fields.ts";
import { dataPartOfUrl } from "../content/media.ts";
import type { Item } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { ElementFile } from "./element-file.ts";
import {
  kindOf,
  parsedObject,
  partImage,
  shownId,
  type UsageReader,
  usageBody,
  usageOfShown,
} from "./shown-message.ts";
import { versionOf } from "./version.ts";

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
    const [id, at] = [shownId(index), timeOf(value.ts)];
    const message = messageOf(value, { id, isFirst: index === 0, open, format });
    yield {
      type: "record",
      id,
      // The same record gets other content once the conversation is available.
      version: `alone ${versionOf(value)}`,
      ...definedFields({ at }),
      body: { kind: "message", message },
    };
    const usage = usageOfShown(value, usageOf);
    if (usage)
      yield {
        type: "record",
        id: `${id}:usage`,
        version: versionOf(usage),
        ...definedFields({ at }),
        body: { ...usageBody(value, usage, id), meta: { [format]: { of: id } } },
      };
  }
  yield* file.problems.splice(0);
}

interface Context {
  readonly id: string;
  readonly isFirst: boolean;
  readonly open: Map<string, string>;
  readonly format: "cline" | "roo";
}

function messageOf(shown: JsonObject, context: Context): MessageInput {
  const { role, parts, fields, request, call } = saidBy(shown, context);
  const images = arrayOf(shown.images).map((url) => ({ url: url as Json, part: dataPartOfUrl(url) }));
  const parted = images.flatMap(({ part }) => part ?? []);
  const hasImages = parted.length > 0;
  const kept = {
    shown: fieldsBesides(shown, [...fields, ...(hasImages ? ["images"] : [])]) ?? {},
    ...(hasImages && { images: images.map(({ url, part }) => (part ? partImage(url) : url)) }),
    ...definedFields({ request, call }),
  };
  const model = textOf(objectOf(shown.modelInfo)?.modelId);
  return {
    role,
    parts: [...parts, ...parted],
    meta: { [context.format]: kept as Json },
    ...definedFields({ model: role === "assistant" ? model : undefined }),
  };
}

interface Said {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  /** Fields of the shown message that the parts represent. */
  readonly fields: readonly string[];
  /** Fields of a request's text other than the request itself. */
  readonly request?: { readonly [field: string]: Json };
  /** "text" if the call could not be parsed and holds the text unchanged. */
  readonly call?: "text";
}

function saidBy(shown: JsonObject, context: Context): Said {
  const kind = kindOf(shown) ?? "";
  const text = textOf(shown.text);
  if (text === undefined) return { role: "system", parts: [], fields: [] };
  const words = (role: Role): Said => ({ role, parts: [{ type: "text", text }], fields: ["text"] });
  if (CALLS.has(kind)) return calledBy(kind, text, context);
  const answered = ANSWERS.get(kind);
  const callId = answered === undefined ? undefined : context.open.get(answered);
  if (answered !== undefined) {
    // A command's output comes in pieces; a call has one result, so further pieces become plain text.
    if (callId === undefined) return words("user");
    context.open.delete(answered);
    return { role: "tool", parts: [{ type: "tool-result", callId, output: text }], fields: ["text"] };
  }
  if (kind === "api_req_started") return requestOf(text) ?? words("user");
  if (kind === "reasoning")
    return { role: "assistant", parts: [{ type: "reasoning", text }], fields: ["text"] };
  // The first shown message is the person's request, whatever its kind.
  if (context.isFirst || FROM_PERSON.has(kind)) return words("user");
  return words(FROM_MODEL.has(kind) ? "assistant" : "system");
}

function calledBy(kind: string, text: string, { id, open }: Context): Said {
  const input = kind === "command" ? { command: text } : parsedObject(text);
  // Parse only calls that can be written again exactly.
  const isExact = kind === "command" || JSON.stringify(input) === text;
  const name = CALLS.get(kind) ?? textOf(input?.tool) ?? kind;
  open.set(kind, id);
  return {
    role: "assistant",
    parts: [{ type: "tool-call", callId: id, name, input: (isExact ? input : { text }) as Json }],
    fields: ["text"],
    ...(!isExact && { call: "text" }),
  };
}

/** Parses the text of a request: the sent text plus usage. */
function requestOf(text: string): Said | undefined {
  const info = parsedObject(text);
  const isExact = info && Object.keys(info)[0] === "request" && JSON.stringify(info) === text;
  if (!isExact || typeof info.request !== "string") return undefined;
  return {
    role: "user",
    parts: [{ type: "text", text: info.request }],
    fields: ["text"],
    request: fieldsBesides(info, ["request"]) ?? {},
  };
}
