import { createHash } from "node:crypto";
import type { EntryId, Json, Memory } from "../../../kernel/index.ts";
import { sealText, unsealText } from "../../../model/secrets/seal-text.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import { nameMessages, SHOWN_CONTEXT_FACT, type Thread } from "../thread/thread.ts";

/** Maximum number of texts sent with a conversation. Later messages get none: dropping a text would change the prefix. */
const MAX_TEXTS = 100;

/** The text added to a message, by the message's name. */
interface StoredText {
  readonly message: string;
  /** The entries that the text quotes. */
  readonly entries: readonly EntryId[];
  readonly sealed: string;
}

/**
 * Context added to user messages, by message. It is repeated in every later request, so that everything before the
 * newest message stays in the provider's cache, and stored with the conversation, so that a restart and other gateways
 * repeat the same bytes. The key to a stored text is the content that it quotes: a quote of erased content is unreadable.
 */
export class ContextTexts {
  readonly #thread: Pick<Thread, "session" | "recall">;
  readonly #memory: Pick<Memory, "expand">;

  constructor(thread: Pick<Thread, "session" | "recall">, memory: Pick<Memory, "expand">) {
    this.#thread = thread;
    this.#memory = memory;
  }

  /** The text of each message that has one, by the index of the message, unless an entry that it quotes was erased. */
  async find(messages: readonly RequestMessage[]): Promise<Map<number, string>> {
    const stored = await this.#read();
    const names = stored.length === 0 ? [] : nameMessages(messages);
    const texts = new Map<number, string>();
    for (const { message, entries, sealed } of stored) {
      const index = names.indexOf(message);
      const text = index === -1 ? undefined : unsealText(sealed, await this.#buildKey(entries));
      if (text !== undefined) texts.set(index, text);
    }
    return texts;
  }

  /** True if a message was searched for before. */
  async has(messages: readonly RequestMessage[], { index }: RequestMessage): Promise<boolean> {
    const name = nameMessages(messages)[index] ?? "";
    if (this.#thread.recall.withoutContext.has(name)) return true;
    return (await this.#read()).some(({ message }) => message === name);
  }

  /** Stores the text added to a message, and the entries that it quotes; false if there are too many. */
  async add(
    messages: readonly RequestMessage[],
    { index }: RequestMessage,
    text: string | undefined,
    entries: readonly EntryId[] = [],
  ): Promise<boolean> {
    const message = nameMessages(messages)[index] ?? "";
    const listOthers = (all: readonly StoredText[]) => all.filter((one) => one.message !== message);
    if (text === undefined || listOthers(await this.#read()).length >= MAX_TEXTS) {
      this.#thread.recall.withoutContext.set(message, true);
      return false;
    }
    const sealed = sealText(text, await this.#buildKey(entries));
    await this.#change((all) => [...listOthers(all), { message, entries, sealed }]);
    return true;
  }

  /** Removes the texts of some messages, given by index; these messages are not searched for again. */
  async forget(messages: readonly RequestMessage[], places: readonly number[]): Promise<void> {
    const names = nameMessages(messages);
    const forgotten = new Set(places.map((place) => names[place] ?? ""));
    for (const name of forgotten) this.#thread.recall.withoutContext.set(name, true);
    await this.#change((all) => all.filter(({ message }) => !forgotten.has(message)));
  }

  async #read(): Promise<readonly StoredText[]> {
    return toTexts(await this.#thread.session.facts.get(SHOWN_CONTEXT_FACT));
  }

  #change(change: (texts: readonly StoredText[]) => readonly StoredText[]): Promise<void> {
    const { facts } = this.#thread.session;
    return facts.change(SHOWN_CONTEXT_FACT, (stored) => change(toTexts(stored)) as unknown as Json);
  }

  async #buildKey(entries: readonly EntryId[]): Promise<Buffer> {
    const hash = createHash("sha256");
    for (const id of entries) {
      const [entry] = await this.#memory.expand(id, { around: 0 });
      hash.update(JSON.stringify(entry ?? null));
    }
    return hash.digest();
  }
}

function toTexts(stored: Json | undefined): readonly StoredText[] {
  return (stored ?? []) as unknown as readonly StoredText[];
}
