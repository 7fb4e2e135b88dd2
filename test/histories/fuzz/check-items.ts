import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { checkMessageParts } from "../../../src/model/entry.ts";

/** Throws if an item does not match its type, which would break the importer. */
export function checkItem(item: Item): void {
  switch (item.type) {
    case "record":
      checkRecord(item);
      break;
    case "session":
      expectType(item.title, ["undefined", "string"], "session.title");
      expectTime(item.createdAt, "session.createdAt");
      break;
    case "rewind":
      expectType(item.to ?? "", ["string"], "rewind.to");
      break;
    case "line":
      for (const record of item.records) expectType(record, ["string"], "line.records");
      break;
    case "problem":
      expectType(item.path, ["string"], "problem.path");
      expectType(item.reason, ["string"], "problem.reason");
      break;
    case "copy":
      if (!(Number.isFinite(item.bytes) && item.bytes >= 0)) throw new Error(`copy.bytes is ${item.bytes}`);
      break;
    case "checkpoint":
      break;
    default:
      throw new Error(`an item of type ${(item as { type: unknown }).type}`);
  }
}

function checkRecord({ id, version, at, parent, child, body }: RecordItem): void {
  expectType(id, ["string"], "record.id");
  expectType(version, ["undefined", "string"], "record.version");
  expectType(parent ?? "", ["string"], "record.parent");
  expectType(child, ["undefined", "string"], "record.child");
  expectTime(at, "record.at");
  switch (body.kind) {
    case "message":
      checkMessageParts(body.message);
      expectType(body.message.model, ["undefined", "string"], "message.model");
      break;
    case "usage":
      for (const [name, value] of Object.entries(body.usage))
        if (!Number.isFinite(value)) throw new Error(`usage.${name} is ${value}`);
      expectType(body.model, ["undefined", "string"], "usage.model");
      expectType(body.request, ["undefined", "string"], "usage.request");
      break;
    case "notice":
      expectType(body.text, ["string"], "notice.text");
      break;
    case "raw":
      if (body.value === undefined) throw new Error("raw.value is undefined");
      break;
    case "overlay":
      expectType(body.reason, ["string"], "overlay.reason");
      if (body.edit.type === "summarize")
        for (const message of body.edit.messages ?? []) checkMessageParts(message);
      if (body.edit.type === "replace") checkMessageParts({ role: "user", parts: body.edit.parts });
      break;
    default:
      throw new Error(`a record of kind ${(body as { kind: unknown }).kind}`);
  }
}

function expectType(value: unknown, types: readonly string[], name: string): void {
  if (!types.includes(typeof value)) throw new Error(`${name} is ${typeof value}: ${JSON.stringify(value)}`);
}

function expectTime(value: unknown, name: string): void {
  if (value !== undefined && !Number.isFinite(value)) throw new Error(`${name} is ${String(value)}`);
}
