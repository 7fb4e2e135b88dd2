import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";

const BLANK_LINE = "\n\n";
/** Fields of a function's response that Google's clients use for its text. */
const TEXT_FIELDS = ["output", "result", "content"];
/** Responses items whose output may contain text. */
const TEXT_OUTPUTS: readonly unknown[] = ["function_call_output", "custom_tool_call_output"];

/**
 * The tool result before a note, with the note at its end. As a message of its own, the note would have the user's role,
 * and the model would take the running turn for ended and lose its reasoning. Undefined if the element before is not a
 * result.
 */
export function joinNote(api: WireName, before: WireObject, note: WireObject): WireObject | undefined {
  const text = findNoteText(api, note);
  if (text === undefined) return undefined;
  if (api === "openai-chat" && before.role === "tool")
    return { ...before, content: appendText(before.content, text, "text") };
  if (api === "openai-responses" && TEXT_OUTPUTS.includes(before.type))
    return { ...before, output: appendText(before.output, text, "input_text") };
  return api === "google" ? joinGoogle(before, text) : undefined;
}

/** The text of a note; undefined if it has other content as well. */
function findNoteText(api: WireName, note: WireObject): string | undefined {
  const content = api === "google" ? note.parts : note.content;
  if (typeof content === "string") return content;
  const texts = toArray(content).map((block) => toObject(block)?.text);
  return texts.length > 0 && texts.every((text) => typeof text === "string")
    ? texts.join(BLANK_LINE)
    : undefined;
}

function appendText(content: unknown, text: string, type: string): unknown {
  if (Array.isArray(content)) return [...content, { type, text }];
  return typeof content === "string" && content !== "" ? content + BLANK_LINE + text : text;
}

function joinGoogle(before: WireObject, text: string): WireObject | undefined {
  const parts = toArray(before.parts);
  const last = toObject(parts.at(-1));
  const answer = toObject(last?.functionResponse);
  if (!last || !answer) return undefined;
  const response = toObject(answer.response) ?? {};
  const field = TEXT_FIELDS.find((name) => typeof response[name] === "string") ?? "note";
  const joined = { ...response, [field]: appendText(response[field], text, "text") };
  return {
    ...before,
    parts: [...parts.slice(0, -1), { ...last, functionResponse: { ...answer, response: joined } }],
  };
}
