import type { Json } from "../../index.ts";
import { dropUndefined, omitFields, toNumber } from "../../wire/fields.ts";
import type { TaskDialect } from "../cline/read-task.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import { decodeClineUsage, subtractCachedTokens } from "../cline/shown-message.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodeRooMessage, TAG_FIELDS } from "./roo-message.ts";
import { RooTags } from "./roo-tags.ts";

/** Creates Roo's dialect. */
export function createRooDialect(): TaskDialect {
  const tags = new RooTags();
  const names = new MessageNames();
  return {
    format: "roo",
    orderBy: "time",
    readUsage: (info) => subtractCachedTokens(decodeClineUsage(info)),
    async *begin() {},
    *decodeMessage({ index, value }, at) {
      const id = names.assignName(index, value);
      const message = decodeRooMessage(value);
      yield {
        type: "record",
        id,
        version: hashRecordVersion(omitFields(value, TAG_FIELDS)),
        ...dropUndefined({ at }),
        body: message ? { kind: "message", message } : { kind: "raw", value: { element: value as Json } },
      };
      yield* tags.addMessage(value, id, at);
    },
    *beforeShown() {},
    *afterShown({ value }) {
      yield* tags.addShownMessage(value);
    },
    async *end() {
      yield* tags.end();
    },
    isWhole: () => true,
  };
}

/**
 * Names messages by time, because Roo inserts summaries and markers between others and shifts their indexes. If the
 * time may not be unique, the index is added.
 */
class MessageNames {
  #latest = 0;

  assignName(index: number, { ts }: JsonObject): string {
    const time = toNumber(ts);
    if (time === undefined) return `#${index}`;
    if (time <= this.#latest) return `${time}#${index}`;
    this.#latest = time;
    return String(time);
  }
}
