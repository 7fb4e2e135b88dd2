import { arrayOf, definedFields, fieldsBesides, numberOf, objectOf, textOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { StoredMessage } from "./stored.ts";

/**
 * Converts a row of `session_message`, which replaces `message` and `part` in later versions of opencode, to the shape
 * of those; undefined for rows that are not messages, such as a change of the model.
 */
export function messageOfRow(id: string, type: string, data: JsonObject): StoredMessage | undefined {
  const info = (role: string, ...held: readonly string[]): JsonObject => ({
    ...fieldsBesides(data, held),
    id,
    role,
  });
  switch (type) {
    case "user":
      return {
        info: info("user", "text", "files"),
        parts: [textPart(data), ...arrayOf(data.files).map(filePart)],
      };
    case "synthetic":
    case "skill":
      return { info: info("user", "text"), parts: [{ ...textPart(data), synthetic: true }] };
    case "system":
      return { info: info("system", "text"), parts: [textPart(data)] };
    case "shell":
      return { info: info("user", "command", "output"), parts: shellParts(data) };
    case "assistant": {
      const model = objectOf(data.model);
      const who = definedFields({ modelID: textOf(model?.id), providerID: textOf(model?.providerID) });
      return {
        info: { ...info("assistant", "content"), ...who },
        parts: arrayOf(data.content).map(contentPart),
      };
    }
    case "compaction":
      if (data.status !== "completed" || textOf(data.summary) === undefined) return undefined;
      return {
        // Marks a summary as opencode's older tables do.
        info: { ...info("assistant", "summary", "recent"), summary: true, finish: "stop" },
        parts: [data.summary, data.recent]
          .filter((text) => textOf(text))
          .map((text) => ({ type: "text", text })),
      };
    default:
      return undefined;
  }
}

function textPart({ text }: JsonObject): JsonObject {
  return { type: "text", text };
}

function filePart(value: unknown): JsonObject {
  const file = objectOf(value) ?? {};
  return {
    ...file,
    type: "file",
    url: file.url ?? file.uri,
    mime: file.mime ?? file.mediaType,
    filename: file.filename ?? file.name,
  };
}

function shellParts({ command, output }: JsonObject): readonly JsonObject[] {
  const said = textOf(output) ?? textOf(objectOf(output)?.output) ?? textOf(objectOf(output)?.text);
  const ran = { type: "text", text: `Ran \`${command}\`` };
  return said === undefined ? [ran] : [ran, { type: "text", text: said }];
}

function contentPart(value: unknown): unknown {
  const part = objectOf(value);
  if (part?.type === "text" || part?.type === "reasoning") {
    const { native, state, ...rest } = part;
    return { ...rest, ...definedFields({ metadata: native ?? state }) };
  }
  return part?.type === "tool" ? toolPart(part) : value;
}

function toolPart(part: JsonObject): JsonObject {
  const { id, name, state: _, time, ...rest } = part;
  const state = objectOf(part.state) ?? {};
  const { content, error, ...others } = state;
  const pieces = arrayOf(content).map((piece) => objectOf(piece) ?? {});
  const texts = pieces.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const files = pieces.filter(({ type }) => type !== "text").map(filePart);
  const times = objectOf(time);
  return {
    ...rest,
    type: "tool",
    callID: id,
    tool: name,
    state: {
      ...others,
      ...(state.status === "completed" && { output: texts.join("\n") }),
      ...(state.status === "error" && {
        error: textOf(objectOf(error)?.message) ?? textOf(error) ?? "",
        cause: error,
      }),
      ...(files.length > 0 && { attachments: files }),
      time: definedFields({
        start: numberOf(times?.ran) ?? numberOf(times?.created),
        end: numberOf(times?.completed),
      }),
    },
  };
}
