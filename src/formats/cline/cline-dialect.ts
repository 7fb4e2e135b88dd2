import { dropUndefined, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { toContentBlocks } from "../copies/text-pieces.ts";
import type { Item } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import { buildClineMessageRecord } from "./cline-message.ts";
import { ContextEdits } from "./context-edits.ts";
import { DeletedRanges } from "./deleted-ranges.ts";
import type { FileElement } from "./element-file.ts";
import type { TaskDialect } from "./read-task.ts";
import { hashRecordVersion } from "./record-version.ts";
import { decodeClineUsage, getShownKind } from "./shown-message.ts";
import type { TaskFiles } from "./task-files.ts";

/** Creates Cline's dialect; `lastRange` is the deleted range in the task list. */
export function createClineDialect(input: Input, files: TaskFiles, lastRange?: unknown): TaskDialect {
  const edits = files.context ? new ContextEdits(input, files.context) : undefined;
  const ranges = new DeletedRanges();
  let passed = 0;
  return {
    format: "cline",
    orderBy: "index",
    readUsage: decodeClineUsage,
    async *begin(at) {
      if (!edits) return;
      yield* await edits.load(at);
      yield* edits.problems;
    },
    *decodeMessage(element, at) {
      const id = `#${element.index}`;
      passed = element.index + 1;
      edits?.addMessage(element.index, id, toContentBlocks(element.value.content));
      yield buildClineMessageRecord(element.value, { id, at, format: "cline" });
      if (!files.shown) yield* decodeMetrics(element, id, at);
    },
    *beforeShown({ value }) {
      const at = toTime(value.ts);
      if (edits && at !== undefined && getShownKind(value) === "api_req_started") yield* edits.takeDue(at);
    },
    *afterShown({ value }) {
      yield* ranges.addRange(value.conversationHistoryDeletedRange, toTime(value.ts), passed);
    },
    async *end() {
      if (edits) yield* edits.takeRest();
      yield* ranges.addRange(lastRange, undefined, passed);
    },
    isWhole: () => edits?.isWhole ?? true,
  };
}

/**
 * Reads usage from a message's own metrics. They are less complete than the shown messages, so they count only without
 * those.
 */
function* decodeMetrics({ value }: FileElement, id: string, at: number | undefined): Generator<Item> {
  const metrics = toObject(value.metrics);
  const tokens = toObject(metrics?.tokens);
  const usage = dropUndefined({
    inputTokens: toNumber(tokens?.prompt),
    outputTokens: toNumber(tokens?.completion),
    // Reads and writes together: the message does not distinguish them.
    cacheReadTokens: toNumber(tokens?.cached),
    cost: toNumber(metrics?.cost),
  });
  if (Object.keys(usage).length === 0) return;
  const model = toObject(value.modelInfo);
  yield {
    type: "record",
    id: `${id}:usage`,
    version: hashRecordVersion(usage),
    ...dropUndefined({ at }),
    body: {
      kind: "usage",
      usage,
      request: id,
      ...dropUndefined({ model: toText(model?.modelId), provider: toText(model?.providerId) }),
    },
  };
}
