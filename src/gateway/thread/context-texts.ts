import { BoundedMap } from "../../base/bounded-map.ts";
import type { EntryId } from "../../index.ts";
import type { RequestMessage } from "../request/request-messages.ts";

/**
 * Maximum number of texts sent with a conversation. Beyond it, the older half is dropped at once, since every change
 * invalidates the provider's cache.
 */
const MAX_TEXTS = 12;
const KEPT_TEXTS = 6;

/** Context for one message. */
interface ContextText {
  readonly text: string;
  /** The entries that it quotes. */
  readonly entries: readonly EntryId[];
}

/**
 * Context added to user messages, by message. It is repeated in every later request, so that everything before the
 * newest message stays in the provider's cache.
 */
export class ContextTexts {
  readonly #texts = new Map<string, ContextText>();
  /** Messages without results, which are not searched for again. */
  readonly #withoutResult = new BoundedMap<string, true>({ max: MAX_TEXTS });

  /** The text of each message that has one, by the index of the message. */
  find(messages: readonly RequestMessage[]): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    if (this.#texts.size === 0) return found;
    for (const [index, name] of nameMessages(messages)) {
      const text = this.#texts.get(name)?.text;
      if (text !== undefined) found.set(index, text);
    }
    return found;
  }

  /** True if a message was searched for before. */
  has(messages: readonly RequestMessage[], { index }: RequestMessage): boolean {
    const name = nameMessages(messages).get(index) ?? "";
    return this.#texts.has(name) || this.#withoutResult.has(name);
  }

  /** Stores the text added to a message, and the entries that it quotes; undefined for none. */
  set(
    messages: readonly RequestMessage[],
    { index }: RequestMessage,
    text: string | undefined,
    entries: readonly EntryId[] = [],
  ): void {
    const name = nameMessages(messages).get(index);
    if (name === undefined) return;
    if (text === undefined) {
      this.#withoutResult.set(name, true);
      return;
    }
    this.#texts.set(name, { text, entries });
    if (this.#texts.size <= MAX_TEXTS) return;
    for (const old of [...this.#texts.keys()].slice(0, -KEPT_TEXTS)) this.#texts.delete(old);
  }

  /** Removes texts that quote an erased entry; their messages are not searched for again. */
  async dropErased(isErased: (entry: EntryId) => Promise<boolean>): Promise<void> {
    for (const [name, { entries }] of [...this.#texts]) {
      for (const entry of entries) {
        if (!(await isErased(entry))) continue;
        this.#texts.delete(name);
        this.#withoutResult.set(name, true);
        break;
      }
    }
  }

  /** Removes the texts of some messages, given by index; these messages are not searched for again. */
  forget(messages: readonly RequestMessage[], places: readonly number[]): void {
    for (const place of places) {
      const message = messages[place];
      const name = message && nameMessages(messages).get(place);
      if (name === undefined) continue;
      this.#texts.delete(name);
      this.set(messages, message as RequestMessage, undefined);
    }
  }
}

/** Names user messages by their key; a repeated message gets a name of its own. */
function nameMessages(messages: readonly RequestMessage[]): ReadonlyMap<number, string> {
  const times = new Map<string, number>();
  const names = new Map<number, string>();
  for (const { key, role, index } of messages) {
    if (role !== "user") continue;
    const time = times.get(key) ?? 0;
    times.set(key, time + 1);
    names.set(index, `${key} ${time}`);
  }
  return names;
}
