import type { WireMessage } from "../body/wire-message.ts";

/** So many are sent with a conversation; of more, the older half is left out at once, for each change costs the cache. */
const MOST = 12;
const KEPT = 6;

/**
 * What was put to the words of the user, by message: it is sent again with every later request, so that all before the
 * newest message stays as the provider knows it.
 */
export class ToldTexts {
  readonly #texts = new Map<string, string>();
  /** Messages for which nothing was found are not looked at twice. */
  readonly #silent = new Set<string>();

  /** The text of each message that has one, by the place of the message. */
  of(messages: readonly WireMessage[]): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    if (this.#texts.size === 0) return found;
    for (const [index, name] of namesOf(messages)) {
      const text = this.#texts.get(name);
      if (text !== undefined) found.set(index, text);
    }
    return found;
  }

  /** True if a message was looked at before. */
  knows(messages: readonly WireMessage[], { index }: WireMessage): boolean {
    const name = namesOf(messages).get(index) ?? "";
    return this.#texts.has(name) || this.#silent.has(name);
  }

  /** Notes what a message was told; undefined for nothing. */
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

  /** Takes back what some messages were told, given by their places; it is not looked for again. */
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

/** Messages of the user by what they say; the same words said again are another message. */
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
