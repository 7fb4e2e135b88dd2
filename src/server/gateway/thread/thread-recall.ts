import { openAgentMemory } from "../../../kernel/calls/open-agent-memory.ts";
import type { AgentMemory } from "../../../kernel/faces/memory.ts";
import type { EntryId, Kernel, MemoryScope } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/bounded-map.ts";
import type { RequestMessage } from "../request/request-messages.ts";

/** Recall state of a thread between its requests. */
export class ThreadRecall {
  readonly contextTexts = new ContextTexts();
  readonly hiddenEnds = new HiddenEnds();
  #memory: { readonly memory: AgentMemory; readonly reach: string } | undefined;

  /** The memory that the tools search; it resolves the references that it has shown. */
  getMemory(kernel: Kernel, agent: string, scope: MemoryScope | undefined): AgentMemory {
    const reach = JSON.stringify([agent, scope]);
    if (this.#memory?.reach !== reach)
      this.#memory = { memory: openAgentMemory(kernel, { agent, scope }), reach };
    return this.#memory.memory;
  }
}

/** Maximum number of texts sent with a conversation. Later messages get none: dropping a text would change the prefix. */
const MAX_TEXTS = 100;

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
    const isFull = this.#texts.size >= MAX_TEXTS && !this.#texts.has(name);
    if (text === undefined || isFull) this.#withoutResult.set(name, true);
    else this.#texts.set(name, { text, entries });
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

/**
 * The actual end of a stored reply that the client saw only in part; the provider needs it when the client
 * continues.
 */
interface HiddenEnd {
  /** Id of the reply that the conversation actually ended with. */
  readonly last: string;
  /** Ids of unanswered calls of the gateway's tools in that reply. */
  readonly unanswered: readonly string[];
}

const MAX_ENDS = 64;

/** Actual ends by the reply id that the client saw, for replies that the client saw only in part. */
class HiddenEnds {
  readonly #ends = new BoundedMap<string, HiddenEnd>({ max: MAX_ENDS });

  get(shown: unknown): HiddenEnd | undefined {
    return typeof shown === "string" ? this.#ends.get(shown) : undefined;
  }

  set(shown: string, end: HiddenEnd): void {
    if (end.last === shown && end.unanswered.length === 0) return;
    this.#ends.set(shown, end);
  }
}
