import type { Json } from "../../index.ts";
import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { KnownContents } from "./known-contents.ts";
import { resultsOf } from "./lines.ts";
import { remainderOf } from "./tool-use-result.ts";

interface Call {
  /** Id of the line with the call. */
  readonly uuid: string | undefined;
  readonly input: unknown;
}

/** Facts about a line that answers calls. */
export interface Answer {
  /** Content of `toolUseResult` that the message does not have. */
  readonly left?: Json;
  readonly copiedBytes: number;
  /** Id of the line with the call. */
  readonly caller?: string;
}

/** Tool calls of one message. */
export class Calls {
  readonly #calls = new Map<string, Call>();

  constructor(lines: readonly LineRecord[]) {
    for (const { record } of lines) {
      for (const block of arrayOf(objectOf(record.message)?.content)) {
        const { type, id, input } = objectOf(block) ?? {};
        if (type === "tool_use" && typeof id === "string")
          this.#calls.set(id, { uuid: textOf(record.uuid), input });
      }
    }
  }

  /** Inspects a line that may hold results of these calls; `contents` learns the file contents that it reports. */
  answer(record: JsonObject, contents: KnownContents): Answer {
    const results = resultsOf(record);
    const calls = results.flatMap(({ tool_use_id: id }) => this.#calls.get(id as string) ?? []);
    const caller = calls[0]?.uuid === undefined ? {} : { caller: calls[0].uuid };
    if (record.toolUseResult === undefined) return { copiedBytes: 0, ...caller };
    const known = [...results, ...calls.map(({ input }) => input)];
    return { ...remainderOf(record.toolUseResult, known, contents), ...caller };
  }
}
