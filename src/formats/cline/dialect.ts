import { definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { Item } from "../item.ts";
import type { Input } from "../reading/input.ts";
import { messageRecord } from "./api-message.ts";
import { ContextEdits } from "./context-history.ts";
import { blocksOfContent } from "./copies.ts";
import { DeletedRanges } from "./deleted-ranges.ts";
import type { FileElement } from "./element-file.ts";
import type { Dialect } from "./read-task.ts";
import { clineUsage, kindOf } from "./shown-message.ts";
import type { TaskFiles } from "./task-files.ts";
import { versionOf } from "./version.ts";

/** Creates Cline's dialect; `lastRange` is the deleted range in the task list. */
export function clineDialect(input: Input, files: TaskFiles, lastRange?: unknown): Dialect {
  const edits = files.context ? new ContextEdits(input, files.context) : undefined;
  const ranges = new DeletedRanges();
  let passed = 0;
  return {
    format: "cline",
    orderBy: "index",
    usageOf: clineUsage,
    async *begin(at) {
      if (!edits) return;
      yield* await edits.load(at);
      yield* edits.problems;
    },
    *message(element, at) {
      const id = `#${element.index}`;
      passed = element.index + 1;
      edits?.see(element.index, id, blocksOfContent(element.value.content));
      yield messageRecord(element.value, { id, at, format: "cline" });
      if (!files.shown) yield* metricsItems(element, id, at);
    },
    *beforeShown({ value }) {
      const at = timeOf(value.ts);
      if (edits && at !== undefined && kindOf(value) === "api_req_started") yield* edits.due(at);
    },
    *afterShown({ value }) {
      yield* ranges.see(value.conversationHistoryDeletedRange, timeOf(value.ts), passed);
    },
    async *end() {
      if (edits) yield* edits.rest();
      yield* ranges.see(lastRange, undefined, passed);
    },
    isWhole: () => edits?.isWhole ?? true,
  };
}

/**
 * Reads usage from a message's own metrics. They are less complete than the shown messages, so they count only without
 * those.
 */
function* metricsItems({ value }: FileElement, id: string, at: number | undefined): Generator<Item> {
  const metrics = objectOf(value.metrics);
  const tokens = objectOf(metrics?.tokens);
  const usage = definedFields({
    inputTokens: numberOf(tokens?.prompt),
    outputTokens: numberOf(tokens?.completion),
    // Reads and writes together: the message does not distinguish them.
    cacheReadTokens: numberOf(tokens?.cached),
    cost: numberOf(metrics?.cost),
  });
  if (Object.keys(usage).length === 0) return;
  const model = objectOf(value.modelInfo);
  yield {
    type: "record",
    id: `${id}:usage`,
    version: versionOf(usage),
    ...definedFields({ at }),
    body: {
      kind: "usage",
      usage,
      request: id,
      ...definedFields({ model: textOf(model?.modelId), provider: textOf(model?.providerId) }),
    },
  };
}
