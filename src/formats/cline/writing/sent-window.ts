import { toObject, toText } from "../../../wire/fields.ts";
import { toContentBlocks } from "../../copies/text-pieces.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { encodeSentBlocks } from "./sent-message.ts";
import { readTaskFileEntries, type TaskFileEntry, type TaskFormat } from "./task-file-entries.ts";

/** An element of the conversation that shown messages can refer to. */
export interface SentMessage {
  readonly role: string | undefined;
  readonly blocks: readonly JsonObject[];
}

/** Number of messages before and after the current place that are available. */
const REACH = 2;

/**
 * A sliding window over the messages of a conversation; it reads ahead and holds only the messages around its place.
 */
export class SentWindow {
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
