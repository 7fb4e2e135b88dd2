import type { BlobPart, Entry, MessageBody, Part, ToolCallPart, Usage } from "../../../index.ts";
import { dropUndefined, toArray, toObject, toText } from "../../../wire/fields.ts";
import { isMedia } from "../../../wire/message-pieces.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { SentMessage } from "./sent-window.ts";
import type { TaskFormat } from "./task-file-entries.ts";

/** A message to show, before its final time is assigned. */
export interface ShownDraft {
  readonly at: number;
  readonly fields: JsonObject;
}

/** The extension's display names of known tools. */
const SHOWN_TOOLS: Readonly<Record<string, string>> = {
  read_file: "readFile",
  write_to_file: "newFileCreated",
  replace_in_file: "editedExistingFile",
  apply_diff: "appliedDiff",
  list_files: "listFilesTopLevel",
  search_files: "searchFiles",
};

/** Generates the shown messages for a message that the extension never saw. */
export async function generateShown(
  { at, message }: Entry<MessageBody>,
  session: ExportedSession,
  isFirst: boolean,
): Promise<readonly ShownDraft[]> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await session.restore(part));
  const show = (fields: JsonObject): ShownDraft => ({ at, fields: { type: "say", ...fields } });
  if (message.role === "assistant")
    return (await Promise.all(parts.map(toShownPart))).flatMap((shown) => (shown ? [show(shown)] : []));
  const results = await readOutputs(parts, session);
  const words = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = await buildImageUrls(parts.filter(isMedia), session);
  const said = words.length > 0 || images.length > 0 || isFirst;
  return [
    ...results.map((text) => show({ say: "command_output", text })),
    ...(said
      ? [
          show({
            say: isFirst ? "text" : "user_feedback",
            text: words.join("\n\n"),
            ...(images.length > 0 && { images }),
          }),
        ]
      : []),
  ];
}

/** Builds the shown request that sends a message; its usage is known only later. */
export function buildShownRequest(
  at: number,
  sent: SentMessage | undefined,
  usage: Usage | undefined,
  format: TaskFormat,
): ShownDraft {
  const texts = sent?.blocks.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const text = JSON.stringify({ request: texts?.join("\n\n") ?? "", ...encodeUsage(usage, format) });
  return { at, fields: { type: "say", say: "api_req_started", text } };
}

/** Builds the report for usage without a shown request; Cline keeps such sums. */
export function buildShownUsage(at: number, usage: Usage, format: TaskFormat): ShownDraft {
  return {
    at,
    fields: { type: "say", say: "deleted_api_reqs", text: JSON.stringify(encodeUsage(usage, format)) },
  };
}

/** Formats usage for the extension: Roo's input includes cached tokens. */
function encodeUsage(usage: Usage | undefined, format: TaskFormat): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost } = usage ?? {};
  const cached = format === "roo" ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0;
  return dropUndefined({
    tokensIn: inputTokens === undefined ? undefined : inputTokens + cached,
    tokensOut: outputTokens,
    cacheWrites: cacheWriteTokens,
    cacheReads: cacheReadTokens,
    cost,
  });
}

function toShownPart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
      return { say: "text", text: part.text };
    case "reasoning":
      return part.text === "" ? undefined : { say: "reasoning", text: part.text };
    case "tool-call":
      return toShownCall(part);
    default:
      return undefined;
  }
}

function toShownCall({ name, input }: ToolCallPart): JsonObject {
  const fields = toObject(input) ?? {};
  const command = toText(fields.command) ?? (toArray(fields.command).join(" ") || undefined);
  if (command !== undefined) return { say: "command", text: command };
  const tool = Object.hasOwn(SHOWN_TOOLS, name) ? SHOWN_TOOLS[name] : undefined;
  if (tool === undefined)
    return { say: "text", text: `**${name}**\n\n\`\`\`json\n${JSON.stringify(input, null, 2)}\n\`\`\`` };
  const content = toText(fields.content) ?? toText(fields.diff);
  return {
    say: "tool",
    text: JSON.stringify({ tool, ...dropUndefined({ path: toText(fields.path), content }) }),
  };
}

async function readOutputs(parts: readonly Part[], session: ExportedSession): Promise<readonly string[]> {
  const outputs: string[] = [];
  for (const part of parts) {
    if (part.type !== "tool-result") continue;
    const texts: string[] = [];
    for (const piece of part.output) {
      const restored = await session.restore(piece);
      if (restored.type === "text") texts.push(restored.text);
    }
    outputs.push(texts.join("\n"));
  }
  return outputs;
}

async function buildImageUrls(
  media: readonly BlobPart[],
  session: ExportedSession,
): Promise<readonly string[]> {
  const urls: string[] = [];
  for (const part of media)
    if (part.mime.startsWith("image/")) urls.push(`data:${part.mime};base64,${await session.base64(part)}`);
  return urls;
}
