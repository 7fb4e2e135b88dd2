import type { Json } from "../../index.ts";
import { dropUndefined, toTime } from "../../wire/fields.ts";
import { type NearbyMessage, toContentBlocks } from "../copies/text-pieces.ts";
import type { ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import { ElementFile, type FileElement } from "./element-file.ts";
import { MessageInterleaver } from "./message-interleaver.ts";
import { readShownAlone } from "./read-shown-alone.ts";
import { readSideFiles } from "./read-side-files.ts";
import { trackRecordOrder } from "./record-order.ts";
import { decodeShownMessage, type UsageReader } from "./shown-message.ts";
import type { TaskFiles } from "./task-files.ts";
import { buildTaskTitle } from "./task-title.ts";

/** Differences between the tools that share these files. */
export interface TaskDialect {
  readonly format: "cline" | "roo";
  /** Order of shown and sent messages: by the index in shown messages, or by time. */
  readonly orderBy: "index" | "time";
  readonly readUsage: UsageReader;
  /** Emits items before everything else; `at` is the start of the task. */
  begin(at: number | undefined): AsyncIterable<Item>;
  /** Decodes a message of the conversation. */
  decodeMessage(element: FileElement, at: number | undefined): Iterable<Item>;
  /** Emit items before and after a shown message. */
  beforeShown(element: FileElement): Iterable<Item>;
  afterShown(element: FileElement): Iterable<Item>;
  /** Emits remaining items after everything else. */
  end(): AsyncIterable<Item>;
  /** False if something that affects the window was unreadable. */
  isWhole(): boolean;
}

/** A task to read. */
interface ClineTask {
  readonly source: ImportSource;
  readonly input: Input;
  readonly files: TaskFiles;
  readonly dialect: TaskDialect;
  /** Start time, title and task list entry, if known. */
  readonly startedAt?: number;
  readonly title?: string;
  readonly history?: { readonly [key: string]: Json };
}

/** Number of messages before and after a shown message to search for copies. */
const NEARBY_MESSAGES = 2;

/** Reads all files of a task. */
export async function* readTask(task: ClineTask): AsyncGenerator<Item> {
  const { input, files } = task;
  const open = (path: string | undefined) => (path === undefined ? undefined : new ElementFile(input, path));
  const [conversation, shown] = [open(files.conversation), open(files.shown)];
  let hasLoss = false;
  const isWhole = () =>
    !hasLoss && (conversation?.isWhole ?? true) && (shown?.isWhole ?? true) && task.dialect.isWhole();
  const items = async function* () {
    for await (const item of readTaskItems(task, conversation, shown)) {
      hasLoss ||= item.type === "problem" && item.severity === "lost";
      yield item;
    }
  };
  try {
    yield* trackRecordOrder(items(), { source: task.source, resume: input.resume, isWhole });
  } finally {
    await conversation?.close();
    await shown?.close();
  }
}

async function* readTaskItems(
  task: ClineTask,
  conversation: ElementFile | undefined,
  shown: ElementFile | undefined,
): AsyncGenerator<Item> {
  const { source, input, files, dialect } = task;
  const [first, firstSent] = [(await shown?.peek())?.value, (await conversation?.peek())?.value];
  const startedAt = task.startedAt ?? toTime(first?.ts) ?? toTime(firstSent?.ts);
  const title = task.title ?? buildTaskTitle(first?.text, firstSent?.content);
  const kept = [...(firstSent || !first ? ["conversation"] : []), ...(shown ? ["shown"] : [])];
  yield {
    type: "session",
    ...dropUndefined({ title, createdAt: startedAt }),
    // The task list is not always available; an earlier entry stays.
    meta: {
      [dialect.format]: { files: kept },
      ...(task.history && { [`${dialect.format}-history`]: task.history }),
    },
  };
  // Without any time, the records would be dated today.
  const at = startedAt ?? source.modifiedAt;
  yield* readSideFiles(input, files, at);
  yield* dialect.begin(at);
  if (conversation && (firstSent || !shown || !first)) yield* mergeMessages(dialect, conversation, shown, at);
  else if (shown) {
    if (conversation) yield* conversation.problems.splice(0);
    yield* readShownAlone(shown, dialect.format, dialect.readUsage);
  }
  yield* dialect.end();
}

/** Merges the conversation and the shown messages in the order they happened. */
async function* mergeMessages(
  dialect: TaskDialect,
  conversation: ElementFile,
  shown: ElementFile | undefined,
  startedAt: number,
): AsyncGenerator<Item> {
  const pace = new MessageInterleaver(dialect.orderBy);
  const passed: FileElement[] = [];
  let at = startedAt;
  for (;;) {
    const [message, display] = [await conversation.peek(), await shown?.peek()];
    yield* conversation.problems.splice(0);
    if (shown) yield* shown.problems.splice(0);
    if (display && !(message && pace.isMessageNext(message, display))) {
      pace.addShown(display);
      at = toTime(display.value.ts) ?? at;
      const nearby = await readNearby(passed, conversation);
      yield* dialect.beforeShown(display);
      yield* decodeShownMessage(display, nearby, dialect.format, dialect.readUsage);
      yield* dialect.afterShown(display);
      await shown?.take();
    } else if (message) {
      at = toTime(message.value.ts) ?? at;
      yield* dialect.decodeMessage(message, at);
      await conversation.take();
      passed.push(message);
      if (passed.length > NEARBY_MESSAGES) passed.shift();
    } else return;
  }
}

async function readNearby(
  passed: readonly FileElement[],
  conversation: ElementFile,
): Promise<readonly NearbyMessage[]> {
  const near: NearbyMessage[] = [];
  for (let distance = 0; distance < NEARBY_MESSAGES; distance++) {
    const element = await conversation.peek(distance);
    if (element) near.push({ distance, blocks: toContentBlocks(element.value.content) });
  }
  for (const [index, { value }] of passed.entries())
    near.push({ distance: index - passed.length, blocks: toContentBlocks(value.content) });
  return near;
}
