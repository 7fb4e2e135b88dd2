import type { Json } from "../../index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { getToolResults } from "./claude-code-lines.ts";
import type { KnownContents } from "./known-contents.ts";
import { removeResultCopies } from "./tool-use-result.ts";

interface MessageCall {
  /** Id of the line with the call. */
  readonly uuid: string | undefined;
  readonly input: unknown;
}

/** Facts about a line that answers calls. */
interface CallAnswer {
  /** Content of `toolUseResult` that the message does not have. */
  readonly rest?: Json;
  readonly copiedBytes: number;
  /** Id of the line with the call. */
  readonly caller?: string;
}

/** Tool calls of one message. */
export class MessageCalls {
  readonly #calls = new Map<string, MessageCall>();

  constructor(lines: readonly LineRecord[]) {
    for (const { record } of lines) {
      for (const block of toArray(toObject(record.message)?.content)) {
        const { type, id, input } = toObject(block) ?? {};
        if (type === "tool_use" && typeof id === "string")
          this.#calls.set(id, { uuid: toText(record.uuid), input });
      }
    }
  }

  /** Inspects a line that may hold results of these calls; `contents` learns the file contents that it reports. */
  inspectAnswer(record: JsonObject, contents: KnownContents): CallAnswer {
    const results = getToolResults(record);
    const calls = results.flatMap(({ tool_use_id: id }) => this.#calls.get(id as string) ?? []);
    const caller = calls[0]?.uuid === undefined ? {} : { caller: calls[0].uuid };
    if (record.toolUseResult === undefined) return { copiedBytes: 0, ...caller };
    const known = [...results, ...calls.map(({ input }) => input)];
    return { ...removeResultCopies(record.toolUseResult, known, contents), ...caller };
  }
}
