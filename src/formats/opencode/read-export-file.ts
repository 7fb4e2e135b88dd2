import type { Json } from "../../index.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import type { StoredItem } from "./stored-item.ts";

/** Reads a file of `opencode export`: the session and its messages. */
export async function* readExportFile({ path }: ImportSource, input: Input): AsyncGenerator<StoredItem> {
  for await (const element of input.jsonElements(path, ["messages"])) {
    const { field, line, value, problem } = element;
    if (problem !== undefined) {
      if (element.isCut && input.isLive) continue;
      const severity = value === undefined ? "lost" : "damaged";
      yield { type: "problem", path, line, severity, reason: problem };
    }
    if (value === undefined) continue;
    const stored = field === "messages" && element.index !== undefined ? toMessage(element) : undefined;
    if (stored) yield stored;
    else if (field === "info" && toObject(value)) yield { type: "session", info: toObject(value) ?? {} };
    else yield toOtherData(element);
  }
}

function toMessage({ value }: JsonElement): StoredItem | undefined {
  const info = toObject(toObject(value)?.info);
  return info && { type: "message", message: { info, parts: toArray(toObject(value)?.parts) } };
}

function toOtherData({ field, index, value }: JsonElement): StoredItem {
  const name = index === undefined ? field : `${field}#${index}`;
  return { type: "other", name, value: value as Json };
}
