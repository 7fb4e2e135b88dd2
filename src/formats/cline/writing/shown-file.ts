import type { Entry, MessageBody } from "../../../index.ts";
import type { NoticeBody, UsageBody } from "../../../log-entry.ts";
import { dropUndefined, toTime } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { buildShownRequest, buildShownUsage, generateShown, type ShownDraft } from "./generate-shown.ts";
import { restoreShown } from "./restore-shown.ts";
import { SentWindow } from "./sent-window.ts";
import { findTaskOrigin, readTaskFileEntries, type TaskFormat } from "./task-file-entries.ts";

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
