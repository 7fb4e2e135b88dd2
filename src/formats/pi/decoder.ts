import type { Json } from "../../index.ts";
import { definedFields, fieldsBesides, numberOf, objectOf, timeOf } from "../content/fields.ts";
import type { FormatName } from "../format.ts";
import type { Item, SessionItem } from "../item.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { callIdOf, itemsOfEntry } from "./entries.ts";
import { RecentEntries } from "./recent-entries.ts";

/** Creates a decoder for the entries of a pi session, from a file or a database. It holds nothing back. */
export function makePiDecoder(format: FormatName, saved?: Json): LineDecoder {
  const state = objectOf(saved);
  const recent = new RecentEntries(state?.recent as Json | undefined);
  let index = numberOf(state?.index) ?? 0;

  function* decode(entry: JsonObject): Generator<Item> {
    const position = `#${index++}`;
    if (entry.type === "session") {
      if (index === 1) yield headerItem(entry, format);
      else yield { type: "record", id: position, body: { kind: "raw", value: entry as Json } };
      return;
    }
    // Version 1 has no ids; positions include the header, as its compactions do.
    const id = typeof entry.id === "string" && entry.id !== "" ? entry.id : position;
    const parent = parentOf(entry, recent.last);
    let isFirst = parent !== undefined;
    for (const item of itemsOfEntry(entry, { format, id, recent, parent })) {
      if (item.type !== "record" || !isFirst || parent === undefined) yield item;
      else {
        isFirst = false;
        yield { ...item, parent };
      }
    }
    recent.add(id, callIdOf(entry));
  }

  return {
    decode: ({ record }) => decode(record),
    isSettled: true,
    state: () => ({ index, recent: recent.toJSON() }),
    end: () => [],
  };
}

/** Returns the parent if it is not the previous entry: pi's tree is a line most of the time. */
function parentOf({ parentId }: JsonObject, last: string | undefined): string | null | undefined {
  if (parentId === null) return last === undefined ? undefined : null;
  return typeof parentId === "string" && parentId !== last ? parentId : undefined;
}

function headerItem(header: JsonObject, format: FormatName): SessionItem {
  const meta = fieldsBesides(header, ["type"]);
  return {
    type: "session",
    ...definedFields({ createdAt: timeOf(header.timestamp) }),
    ...(meta && { meta: { [format]: meta } }),
  };
}
