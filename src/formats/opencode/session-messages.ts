import { dropUndefined, omitFields, toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { StoredMessage } from "./stored-item.ts";

/**
 * Converts a row of `session_message`, which replaces `message` and `part` in later versions of opencode, to the shape
 * of those; undefined for rows that are not messages, such as a change of the model.
 */
export function decodeSessionMessage(id: string, type: string, data: JsonObject): StoredMessage | undefined {
  const info = (role: string, ...held: readonly string[]): JsonObject => ({
    ...omitFields(data, held),
    id,
    role,
  });
  switch (type) {
    case "user":
      return {
        info: info("user", "text", "files"),
        parts: [toTextPart(data), ...toArray(data.files).map(toFilePart)],
      };
    case "synthetic":
    case "skill":
      return { info: info("user", "text"), parts: [{ ...toTextPart(data), synthetic: true }] };
    case "system":
      return { info: info("system", "text"), parts: [toTextPart(data)] };
    case "shell":
      return { info: info("user", "command", "output"), parts: toShellParts(data) };
    case "assistant": {
      const model = toObject(data.model);
      const who = dropUndefined({ modelID: toText(model?.id), providerID: toText(model?.providerID) });
      return {
        info: { ...info("assistant", "content"), ...who },
        parts: toArray(data.content).map(toContentPart),
      };
    }
    case "compaction":
      if (data.status !== "completed" || toText(data.summary) === undefined) return undefined;
      return {
        // Marks a summary as opencode's older tables do.
        info: { ...info("assistant", "summary", "recent"), summary: true, finish: "stop" },
        parts: [data.summary, data.recent]
          .filter((text) => toText(text))
          .map((text) => ({ type: "text", text })),
      };
    default:
      return undefined;
  }
}

function toTextPart({ text }: JsonObject): JsonObject {
  return { type: "text", text };
}

function toFilePart(value: unknown): JsonObject {
  const file = toObject(value) ?? {};
  return {
    ...file,
    type: "file",
    url: file.url ?? file.uri,
    mime: file.mime ?? file.mediaType,
    filename: file.filename ?? file.name,
  };
}

function toShellParts({ command, output }: JsonObject): readonly JsonObject[] {
  const said = toText(output) ?? toText(toObject(output)?.output) ?? toText(toObject(output)?.text);
  const ran = { type: "text", text: `Ran \`${command}\`` };
  return said === undefined ? [ran] : [ran, { type: "text", text: said }];
}

function toContentPart(value: unknown): unknown {
  const part = toObject(value);
  if (part?.type === "text" || part?.type === "reasoning") {
    const { native, state, ...rest } = part;
    return { ...rest, ...dropUndefined({ metadata: native ?? state }) };
  }
  return part?.type === "tool" ? toToolPart(part) : value;
}

function toToolPart(part: JsonObject): JsonObject {
  const { id, name, state: _, time, ...rest } = part;
  const state = toObject(part.state) ?? {};
  const { content, error, ...others } = state;
  const pieces = toArray(content).map((piece) => toObject(piece) ?? {});
  const texts = pieces.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const files = pieces.filter(({ type }) => type !== "text").map(toFilePart);
  const times = toObject(time);
  return {
    ...rest,
    type: "tool",
    callID: id,
    tool: name,
    state: {
      ...others,
      ...(state.status === "completed" && { output: texts.join("\n") }),
      ...(state.status === "error" && {
        error: toText(toObject(error)?.message) ?? toText(error) ?? "",
        cause: error,
      }),
      ...(files.length > 0 && { attachments: files }),
      time: dropUndefined({
        start: toNumber(times?.ran) ?? toNumber(times?.created),
        end: toNumber(times?.completed),
      }),
    },
  };
}
