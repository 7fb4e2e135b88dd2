import type { NoticeBody, UsageBody } from "../../../kernel/faces/log.ts";
import type { BlobPart, Entry, MessageBody, Part, ToolCallPart, Usage } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toArray, toObject, toText, toTime } from "../../../wire/fields.ts";
import { isMedia } from "../../../wire/message-pieces.ts";
import {
  getBlockTexts,
  joinPieces,
  type TextPieces,
  toContentBlocks,
} from "../../deduplication/text-pieces.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { getShownKind, type ShownImage, type ShownMessage } from "../shown-message.ts";
import { encodeSentBlocks } from "./sent-message.ts";
import {
  findTaskOrigin,
  readTaskFileEntries,
  type TaskFileEntry,
  type TaskFormat,
} from "./task-file-entries.ts";

/** The extension's display names of known tools. */
const SHOWN_TOOLS: Readonly<Record<string, string>> = {
  read_file: "readFile",
  write_to_file: "newFileCreated",
  replace_in_file: "editedExistingFile",
  apply_diff: "appliedDiff",
  list_files: "listFilesTopLevel",
  search_files: "searchFiles",
};

/** Number of messages before and after the current place that are available. */
const REACH = 2;

/** Yields the shown messages: those of the original task, and generated ones for everything else. */
export async function* writeShownMessages(
  session: ExportedSession,
  format: TaskFormat,
): AsyncGenerator<JsonObject> {
  const window = new SentWindow(session, format);
  const writer = new ShownWriter(session, format, window);
  try {
    for await (const item of readTaskFileEntries(session, format)) {
      await window.load();
      if (item.type === "shown")
        yield* writer.writeOriginal(await restoreShown(item.entry, item.shown, window, session), item.entry);
      else if (item.type === "sent") yield* await writer.addSent(item.entry, item.fields !== undefined);
      else if (item.type === "element") window.advance();
      else if (item.entry.kind === "usage" && !item.entry.meta?.[format]) writer.addUsage(item.entry);
      else if (item.entry.kind === "notice") writer.addNotice(item.entry);
    }
    yield* writer.flush();
  } finally {
    await window.close();
  }
}

/** Maximum messages that wait for the usage of a request. */
const MAX_WAITING = 1_000;

class ShownWriter {
  readonly #session: ExportedSession;
  readonly #format: TaskFormat;
  readonly #window: SentWindow;
  /** True if the task's own messages come with shown messages. */
  readonly #hasShown: boolean;
  /** A request that waits for its usage, and the messages shown since. */
  #request:
    | { readonly at: number; readonly index: number; readonly sent: ReturnType<SentWindow["at"]> }
    | undefined;
  #usage: Entry<UsageBody> | undefined;
  #waiting: (readonly [ShownDraft, index: number])[] = [];
  #isFirst = true;
  #lastAt = 0;
  #lastText: unknown;

  constructor(session: ExportedSession, format: TaskFormat, window: SentWindow) {
    this.#session = session;
    this.#format = format;
    this.#window = window;
    this.#hasShown = findTaskOrigin(session.record, format)?.hasShown ?? false;
  }

  /** Writes an original shown message. */
  *writeOriginal(message: JsonObject, { at }: Entry): Generator<JsonObject> {
    yield* this.flush();
    this.#isFirst = false;
    this.#lastAt = toTime(message.ts) ?? at;
    this.#lastText = message.text;
    yield message;
  }

  /** Generates shown messages for a sent message, unless the original ones are known. */
  async addSent(entry: Entry<MessageBody>, isOwn: boolean): Promise<readonly JsonObject[]> {
    const { role } = entry.message;
    const [here, next] = [this.#window.at(0), this.#window.at(1)];
    const index = this.#window.place - 1;
    this.#window.advance();
    // Messages from the program to the model were never shown.
    if ((isOwn && this.#hasShown) || role === "system") return [];
    const shown = await generateShown(entry, this.#session, this.#isFirst);
    this.#isFirst = false;
    const isRequest = role !== "assistant" && next?.role === "assistant";
    const ready = isRequest || this.#waiting.length > MAX_WAITING ? [...this.flush()] : [];
    for (const one of shown) this.#waiting.push([one, index]);
    if (isRequest) {
      for (const one of this.flush()) ready.push(one);
      this.#request = { at: entry.at, index, sent: here };
    }
    return ready;
  }

  /** Assigns usage to the pending request; the last report of a request counts. */
  addUsage(entry: Entry<UsageBody>): void {
    const isSame = entry.request !== undefined && entry.request === this.#usage?.request;
    if (this.#request && (!this.#usage || isSame)) this.#usage = entry;
    else this.#waiting.push([buildShownUsage(entry.at, entry.usage, this.#format), this.#window.place - 1]);
  }

  /** Shows a notice unless it was just shown. */
  addNotice({ text, at }: Entry<NoticeBody>): void {
    if (text === this.#lastText) return;
    this.#waiting.push([{ at, fields: { type: "say", say: "info", text } }, this.#window.place - 1]);
  }

  /** Writes everything that waits. */
  *flush(): Generator<JsonObject> {
    const [request, used] = [this.#request, this.#usage];
    this.#request = undefined;
    this.#usage = undefined;
    if (request) {
      const shown = buildShownRequest(request.at, request.sent, used?.usage, this.#format);
      const modelInfo =
        used?.model === undefined
          ? undefined
          : { modelId: used.model, providerId: used.provider ?? "", mode: "act" };
      yield this.#assignTime(
        { ...shown, fields: { ...shown.fields, ...dropUndefined({ modelInfo }) } },
        request.index,
      );
    }
    for (const [shown, index] of this.#waiting) yield this.#assignTime(shown, index);
    this.#waiting = [];
  }

  /** Makes times unique, because the extension identifies messages by time. */
  #assignTime({ at, fields }: ShownDraft, index: number): JsonObject {
    this.#lastAt = Math.max(at, this.#lastAt + 1);
    return { ts: this.#lastAt, ...fields, conversationHistoryIndex: index };
  }
}

/** Restores a shown message to its original form. */
async function restoreShown(
  entry: Entry,
  shown: ShownMessage,
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const parts = entry.kind === "message" ? entry.message.parts : [];
  const text = shown.text ? resolvePieces(shown.text, window) : await restoreText(shown, parts, session);
  const images = shown.images && (await restoreImages(shown.images, parts, window, session));
  return { ...shown.shown, ...(text !== undefined && { text }), ...(images && { images }) };
}

/** Resolves references; if a referenced message has changed, that part of the text is missing. */
function resolvePieces(pieces: TextPieces, window: SentWindow | undefined): string {
  const textsAt = (distance: number, block: number) => {
    const sent = window?.at(distance)?.blocks[block];
    return sent ? getBlockTexts(sent) : [];
  };
  return joinPieces(pieces, textsAt) ?? pieces.filter((piece) => typeof piece === "string").join("");
}

/** Returns the text of a shown message that was imported as a message. */
async function restoreText(
  { shown, ...forms }: ShownMessage,
  parts: readonly Part[],
  session: ExportedSession,
): Promise<string | undefined> {
  const [first] = parts;
  const part = first && (await session.restore(first));
  if (!part || typeof shown.text === "string") return undefined;
  const { request, call } = forms as { readonly request?: JsonObject; readonly call?: string };
  switch (part.type) {
    case "text":
      return request ? JSON.stringify({ request: part.text, ...request }) : part.text;
    case "reasoning":
      return part.text;
    case "tool-call": {
      const input = toObject(part.input);
      if (call === "text") return String(input?.text);
      return getShownKind(shown) === "command" ? String(input?.command) : JSON.stringify(part.input);
    }
    case "tool-result": {
      const output = part.output[0] && (await session.restore(part.output[0]));
      return output?.type === "text" ? output.text : "";
    }
    default:
      return undefined;
  }
}

async function restoreImages(
  images: readonly ShownImage[],
  parts: readonly Part[],
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<readonly unknown[]> {
  const media = parts.filter((part): part is BlobPart => part.type === "blob" && part.of === undefined);
  const urls: unknown[] = [];
  for (const image of images) {
    const head = toObject(image)?.part;
    const next = typeof head === "string" ? media.shift() : undefined;
    if (next) urls.push(`${head}${await session.base64(next)}`);
    else urls.push(Array.isArray(image) ? resolvePieces(image as TextPieces, window) : image);
  }
  return urls;
}

/** A message to show, before its final time is assigned. */
interface ShownDraft {
  readonly at: number;
  readonly fields: JsonObject;
}

/** Generates the shown messages for a message that the extension never saw. */
async function generateShown(
  { at, message }: Entry<MessageBody>,
  session: ExportedSession,
  isFirst: boolean,
): Promise<readonly ShownDraft[]> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await session.restore(part));
  const show = (fields: JsonObject): ShownDraft => ({ at, fields: { type: "say", ...fields } });
  if (message.role === "assistant")
    return (await Promise.all(parts.map(toShownPart))).flatMap((shown) => (shown ? [show(shown)] : []));
  const results = await readOutputs(parts, session);
  const words = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = await buildImageUrls(parts.filter(isMedia), session);
  const said = words.length > 0 || images.length > 0 || isFirst;
  return [
    ...results.map((text) => show({ say: "command_output", text })),
    ...(said
      ? [
          show({
            say: isFirst ? "text" : "user_feedback",
            text: words.join("\n\n"),
            ...(images.length > 0 && { images }),
          }),
        ]
      : []),
  ];
}

/** Builds the shown request that sends a message; its usage is known only later. */
function buildShownRequest(
  at: number,
  sent: SentMessage | undefined,
  usage: Usage | undefined,
  format: TaskFormat,
): ShownDraft {
  const texts = sent?.blocks.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const text = JSON.stringify({ request: texts?.join("\n\n") ?? "", ...encodeUsage(usage, format) });
  return { at, fields: { type: "say", say: "api_req_started", text } };
}

/** Builds the report for usage without a shown request; Cline keeps such sums. */
function buildShownUsage(at: number, usage: Usage, format: TaskFormat): ShownDraft {
  return {
    at,
    fields: { type: "say", say: "deleted_api_reqs", text: JSON.stringify(encodeUsage(usage, format)) },
  };
}

/** Formats usage for the extension: Roo's input includes cached tokens. */
function encodeUsage(usage: Usage | undefined, format: TaskFormat): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost } = usage ?? {};
  const cached = format === "roo" ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0;
  return dropUndefined({
    tokensIn: inputTokens === undefined ? undefined : inputTokens + cached,
    tokensOut: outputTokens,
    cacheWrites: cacheWriteTokens,
    cacheReads: cacheReadTokens,
    cost,
  });
}

function toShownPart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
      return { say: "text", text: part.text };
    case "reasoning":
      return part.text === "" ? undefined : { say: "reasoning", text: part.text };
    case "tool-call":
      return toShownCall(part);
    default:
      return undefined;
  }
}

function toShownCall({ name, input }: ToolCallPart): JsonObject {
  const fields = toObject(input) ?? {};
  const command = toText(fields.command) ?? (toArray(fields.command).join(" ") || undefined);
  if (command !== undefined) return { say: "command", text: command };
  const tool = Object.hasOwn(SHOWN_TOOLS, name) ? SHOWN_TOOLS[name] : undefined;
  if (tool === undefined)
    return { say: "text", text: `**${name}**\n\n\`\`\`json\n${JSON.stringify(input, null, 2)}\n\`\`\`` };
  const content = toText(fields.content) ?? toText(fields.diff);
  return {
    say: "tool",
    text: JSON.stringify({ tool, ...dropUndefined({ path: toText(fields.path), content }) }),
  };
}

async function readOutputs(parts: readonly Part[], session: ExportedSession): Promise<readonly string[]> {
  const outputs: string[] = [];
  for (const part of parts) {
    if (part.type !== "tool-result") continue;
    const texts: string[] = [];
    for (const piece of part.output) {
      const restored = await session.restore(piece);
      if (restored.type === "text") texts.push(restored.text);
    }
    outputs.push(texts.join("\n"));
  }
  return outputs;
}

async function buildImageUrls(
  media: readonly BlobPart[],
  session: ExportedSession,
): Promise<readonly string[]> {
  const urls: string[] = [];
  for (const part of media)
    if (part.mime.startsWith("image/")) urls.push(`data:${part.mime};base64,${await session.base64(part)}`);
  return urls;
}

/** An element of the conversation that shown messages can refer to. */
interface SentMessage {
  readonly role: string | undefined;
  readonly blocks: readonly JsonObject[];
}

/**
 * A sliding window over the messages of a conversation; it reads ahead and holds only the messages around its place.
 */
class SentWindow {
  readonly #session: ExportedSession;
  readonly #entries: AsyncGenerator<TaskFileEntry>;
  readonly #held = new Map<number, SentMessage>();
  #next = 0;
  #place = 0;
  #isDone = false;

  constructor(session: ExportedSession, format: TaskFormat) {
    this.#session = session;
    this.#entries = readTaskFileEntries(session, format);
  }

  /** Number of messages passed. */
  get place(): number {
    return this.#place;
  }

  /** Loads the messages around the place. */
  async load(): Promise<void> {
    while (this.#next < this.#place + REACH && !this.#isDone) {
      const { done, value } = await this.#entries.next();
      if (done) this.#isDone = true;
      else {
        const sent = await this.#toSentMessage(value);
        if (sent) this.#held.set(this.#next++, sent);
      }
    }
  }

  /** Returns the message at a distance: 0 is the next one. */
  at(distance: number): SentMessage | undefined {
    return this.#held.get(this.#place + distance);
  }

  /** Moves past the next message. */
  advance(): void {
    this.#place++;
    this.#held.delete(this.#place - REACH - 1);
  }

  async close(): Promise<void> {
    await this.#entries.return(undefined);
  }

  async #toSentMessage(item: TaskFileEntry): Promise<SentMessage | undefined> {
    if (item.type === "element") {
      const element = toObject(item.element);
      return { role: toText(element?.role), blocks: toContentBlocks(element?.content) };
    }
    if (item.type !== "sent") return undefined;
    const blocks = await encodeSentBlocks(item.entry, item.fields, this.#session);
    return { role: item.entry.message.role, blocks };
  }
}
