import type { Json } from "../../index.ts";
import type { Dialect } from "../cline/read-task.ts";
import { clineUsage, withoutCached } from "../cline/shown-message.ts";
import { versionOf } from "../cline/version.ts";
import { definedFields, fieldsBesides, numberOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { rooMessageOf, TAGS } from "./message.ts";
import { Tags } from "./tags.ts";

/** Creates Roo's dialect. */
export function rooDialect(): Dialect {
  const tags = new Tags();
  const names = new Names();
  return {
    format: "roo",
    orderBy: "time",
    usageOf: (info) => withoutCached(clineUsage(info)),
    async *begin() {},
    *message({ index, value }, at) {
      const id = names.nameOf(index, value);
      const message = rooMessageOf(value);
      yield {
        type: "record",
        id,
        version: versionOf(fieldsBesides(value, TAGS)),
        ...definedFields({ at }),
        body: message ? { kind: "message", message } : { kind: "raw", value: { element: value as Json } },
      };
      yield* tags.see(value, id, at);
    },
    *beforeShown() {},
    *afterShown({ value }) {
      yield* tags.seeShown(value);
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
class Names {
  #latest = 0;

  nameOf(index: number, { ts }: JsonObject): string {
    const time = numberOf(ts);
    if (time === undefined) return `#${index}`;
    if (time <= this.#latest) return `${time}#${index}`;
    this.#latest = time;
    return String(time);
  }
}
