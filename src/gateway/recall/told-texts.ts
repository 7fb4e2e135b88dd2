import type { WireMessage } from "../body/wire-message.ts";

/**
 * Maximum number of texts sent with a conversation. Beyond it, the older half is dropped at once, since every change
 * invalidates the provider's cache.
 */
const MOST = 12;
const KEPT = 6;

/**
 * Context added to user messages, by message. It is repeated in every later request, so that everything before the
 * newest message stays in the provider's cache.
 */
export class ToldTexts {
  readonly #texts = new Map<string, string>();
  /** Messages without results, which are not searched for again. */
  readonly #silent = new Set<string>();

  /** The text of each message that has one, by the index of the message. */
  of(messages: readonly WireMessage[]): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    if (this.#texts.size === 0) return found;
    for (const [index, name] of namesOf(messages)) {
      const text = this.#texts.get(name);
      if (text !== undefined) found.set(index, text);
    }
    return found;
  }

  /** True if a message was searched for before. */
  knows(messages: readonly WireMessage[], { index }: WireMessage): boolean {
    const name = namesOf(messages).get(index) ?? "";
    return this.#texts.has(name) || this.#silent.has(name);
  }

  /** Stores the text added to a message; undefined for none. */
  tell(messages: readonly WireMessage[], { index }: WireMessage, text: string | undefined): void {
    const name = namesOf(messages).get(index);
    if (name === undefined) return;
    if (text === undefined) {
      this.#silent.add(name);
      const [oldest] = this.#silent;
      if (this.#silent.size > MOST && oldest !== undefined) this.#silent.delete(oldest);
      return;
    }
    this.#texts.set(name, text);
    if (this.#texts.size <= MOST) return;
    for (const old of [...this.#texts.keys()].slice(0, -KEPT)) this.#texts.delete(old);
  }

  /** Removes the texts of some messages, given by index; these messages are not searched for again. */
  forget(messages: readonly WireMessage[], places: readonly number[]): void {
    for (const place of places) {
      const message = messages[place];
      const name = message && namesOf(messages).get(place);
      if (name === undefined) continue;
      this.#texts.delete(name);
      this.tell(messages, message as WireMessage, undefined);
    }
  }
}

/** Names user messages by their key; a repeated message gets a name of its own. */
function namesOf(messages: readonly WireMessage[]): ReadonlyMap<number, string> {
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
