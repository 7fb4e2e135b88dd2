import type { Json } from "../../index.ts";
import { arrayOf, objectOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import type { Input } from "../reading/input.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import type { Stored } from "./stored.ts";

/** Reads a file of `opencode export`: the session and its messages. */
export async function* readExportFile({ path }: Source, input: Input): AsyncGenerator<Stored> {
  for await (const element of input.jsonElements(path, ["messages"])) {
    const { field, line, value, problem } = element;
    if (problem !== undefined) {
      if (element.isCut && input.isLive) continue;
      const severity = value === undefined ? "lost" : "damaged";
      yield { type: "problem", path, line, severity, reason: problem };
    }
    if (value === undefined) continue;
    const stored = field === "messages" && element.index !== undefined ? messageOf(element) : undefined;
    if (stored) yield stored;
    else if (field === "info" && objectOf(value)) yield { type: "session", info: objectOf(value) ?? {} };
    else yield otherOf(element);
  }
}

function messageOf({ value }: JsonElement): Stored | undefined {
  const info = objectOf(objectOf(value)?.info);
  return info && { type: "message", message: { info, parts: arrayOf(objectOf(value)?.parts) } };
}

function otherOf({ field, index, value }: JsonElement): Stored {
  const name = index === undefined ? field : `${field}#${index}`;
  return { type: "other", name, value: value as Json };
}
