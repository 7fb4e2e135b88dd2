import type { Entry, MessageBody, NoticeBody, UsageBody } from "../../../index.ts";
import { definedFields, timeOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { ExportedSession } from "../writer.ts";
import { SentWindow } from "./sent-window.ts";
import { shownAgain } from "./shown-again.ts";
import { requestShown, shownAnew, type ToShow, usageShown } from "./shown-anew.ts";
import { type TaskFormat, taskEntries, taskOrigin } from "./task-session.ts";

/** The messages that the person was shown: as they were in the task, and for everything else as they would have been. */
export async function* shownMessages(
  session: ExportedSession,
  format: TaskFormat,
): AsyncGenerator<JsonObject> {
  const window = new SentWindow(session, format);
  const writer = new ShownWriter(session, format, window);
  try {
    for await (const item of taskEntries(session, format)) {
      await window.load();
      if (item.type === "shown")
        yield* writer.again(await shownAgain(item.entry, item.shown, window, session), item.entry);
      else if (item.type === "sent") yield* await writer.sent(item.entry, item.fields !== undefined);
      else if (item.type === "element") window.pass();
      else if (item.entry.kind === "usage" && !item.entry.meta?.[format]) writer.used(item.entry);
      else if (item.entry.kind === "notice") writer.notice(item.entry);
    }
    yield* writer.flush();
  } finally {
    await window.close();
  }
}

/** Most messages that wait for a request to tell what it used. */
const MAX_WAITING = 1_000;

class ShownWriter {
  readonly #session: ExportedSession;
  readonly #format: TaskFormat;
  readonly #window: SentWindow;
  /** Whether messages of the task's own come with what was shown of them. */
  readonly #hasShown: boolean;
  /** A request that waits for what it used, with all that was shown since. */
  #request:
    | { readonly at: number; readonly index: number; readonly sent: ReturnType<SentWindow["at"]> }
    | undefined;
  #usage: Entry<UsageBody> | undefined;
  #waiting: (readonly [ToShow, index: number])[] = [];
  #isFirst = true;
  #lastAt = 0;
  #lastText: unknown;

  constructor(session: ExportedSession, format: TaskFormat, window: SentWindow) {
    this.#session = session;
    this.#format = format;
    this.#window = window;
    this.#hasShown = taskOrigin(session.record, format)?.hasShown ?? false;
  }

  /** A message that was shown comes again as it was. */
  *again(message: JsonObject, { at }: Entry): Generator<JsonObject> {
    yield* this.flush();
    this.#isFirst = false;
    this.#lastAt = timeOf(message.ts) ?? at;
    this.#lastText = message.text;
    yield message;
  }

  /** A message was sent; if nothing is known of how it was shown, that is made up. */
  async sent(entry: Entry<MessageBody>, isOwn: boolean): Promise<readonly JsonObject[]> {
    const { role } = entry.message;
    const [here, next] = [this.#window.at(0), this.#window.at(1)];
    const index = this.#window.place - 1;
    this.#window.pass();
    // What the program told the model was never shown.
    if ((isOwn && this.#hasShown) || role === "system") return [];
    const shown = await shownAnew(entry, this.#session, this.#isFirst);
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

  /** Tells what the request before has used; of several reports of one request the last one counts. */
  used(entry: Entry<UsageBody>): void {
    const isSame = entry.request !== undefined && entry.request === this.#usage?.request;
    if (this.#request && (!this.#usage || isSame)) this.#usage = entry;
    else this.#waiting.push([usageShown(entry.at, entry.usage, this.#format), this.#window.place - 1]);
  }

  /** A notice that was shown already is not shown twice. */
  notice({ text, at }: Entry<NoticeBody>): void {
    if (text === this.#lastText) return;
    this.#waiting.push([{ at, fields: { type: "say", say: "info", text } }, this.#window.place - 1]);
  }

  /** Everything that waits. */
  *flush(): Generator<JsonObject> {
    const [request, used] = [this.#request, this.#usage];
    this.#request = undefined;
    this.#usage = undefined;
    if (request) {
      const shown = requestShown(request.at, request.sent, used?.usage, this.#format);
      const modelInfo =
        used?.model === undefined
          ? undefined
          : { modelId: used.model, providerId: used.provider ?? "", mode: "act" };
      yield this.#timed(
        { ...shown, fields: { ...shown.fields, ...definedFields({ modelInfo }) } },
        request.index,
      );
    }
    for (const [shown, index] of this.#waiting) yield this.#timed(shown, index);
    this.#waiting = [];
  }

  /** The extension tells messages apart by their times. */
  #timed({ at, fields }: ToShow, index: number): JsonObject {
    this.#lastAt = Math.max(at, this.#lastAt + 1);
    return { ts: this.#lastAt, ...fields, conversationHistoryIndex: index };
  }
}
