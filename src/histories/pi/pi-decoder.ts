import type { Json } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import type { FormatName } from "../port/format.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import type { Item, SessionItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodePiEntry, getAnsweredCallId } from "./pi-entries.ts";
import { RecentEntries } from "./recent-entries.ts";

/** Creates a decoder for the entries of a pi session, from a file or a database. It holds nothing back. */
export function createPiDecoder(format: FormatName, saved?: Json): LineDecoder {
  const state = toObject(saved);
  const recent = new RecentEntries(state?.recent as Json | undefined);
  let index = toNumber(state?.index) ?? 0;

  function* decode(entry: JsonObject): Generator<Item> {
    if (entry.type === "title" && index === 0) {
      const version = computeFingerprint(JSON.stringify(entry));
      yield { type: "session", ...dropUndefined({ title: toText(entry.title) }) };
      return yield { type: "record", id: "title", version, body: { kind: "raw", value: entry as Json } };
    }
    const position = `#${index++}`;
    if (entry.type === "session") {
      if (index === 1) yield buildHeaderItem(entry, format);
      else yield { type: "record", id: position, body: { kind: "raw", value: entry as Json } };
      return;
    }
    // Version 1 has no ids; positions include the header, as its compactions do.
    const id = typeof entry.id === "string" && entry.id !== "" ? entry.id : position;
    const parent = findParent(entry, recent.last);
    let isFirst = parent !== undefined;
    for (const item of decodePiEntry(entry, { format, id, recent, parent })) {
      if (item.type !== "record" || !isFirst || parent === undefined) yield item;
      else {
        isFirst = false;
        yield { ...item, parent };
      }
    }
    recent.add(id, getAnsweredCallId(entry));
  }

  return {
    decode: ({ record }) => decode(record),
    isSettled: true,
    state: () => ({ index, recent: recent.toJSON() }),
    end: () => [],
  };
}

/** Returns the parent if it is not the previous entry: pi's tree is a line most of the time. */
function findParent({ parentId }: JsonObject, last: string | undefined): string | null | undefined {
  if (parentId === null) return last === undefined ? undefined : null;
  return typeof parentId === "string" && parentId !== last ? parentId : undefined;
}

function buildHeaderItem(header: JsonObject, format: FormatName): SessionItem {
  const meta = omitFields(header, ["type"]);
  return {
    type: "session",
    ...dropUndefined({ createdAt: toTime(header.timestamp) }),
    ...(meta && { meta: { [format]: meta } }),
  };
}
