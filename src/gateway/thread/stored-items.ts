import type { EntryId, Kernel, SessionId } from "../../index.ts";
import { encodeResponsesItems } from "../../wire/openai-responses/encode-responses-items.ts";
import type { WireObject } from "../../wire/wire.ts";
import { listPersonIds, type PersonIds } from "../identity/person-ids.ts";
import { createLoggedContent } from "./logged-content.ts";

/** Replies read for the references of one request. */
const MAX_REPLIES = 1_000;

/**
 * Items of replies in the log, for clients that refer to them by id. The entry of a reply is stored as a fact of its
 * session, named after each of its items, so that any gateway finds them.
 */
export class StoredItems {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Records the entry that holds the items of a reply. */
  async add(
    principal: string,
    items: readonly WireObject[],
    session: SessionId,
    entry: EntryId,
  ): Promise<void> {
    const ids = items.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
    if (ids.length === 0) return;
    await using own = await this.#kernel.session(session);
    await Promise.all(
      ids.map(async (id) => {
        const name = buildFactName(principal, id);
        if (await own.facts.claim(name, entry)) return;
        // An id that an upstream gives to items of several conversations is ambiguous, now and later.
        const earlier = await this.#kernel.findFact(name);
        if (!earlier || earlier.value === null) return;
        await using other = await this.#kernel.session(earlier.session);
        await other.facts.claim(name, null);
      }),
    );
  }

  /** The items with these ids and others of the same replies; those that the log does not know are left out. */
  async find(person: PersonIds, ids: Iterable<string>): Promise<readonly WireObject[]> {
    const found = new Map<string, WireObject>();
    let replies = 0;
    for (const id of ids) {
      if (found.has(id) || replies === MAX_REPLIES) continue;
      const place = await this.#findPlace(person, id);
      if (!place) continue;
      replies++;
      for (const item of await this.#readItems(place.session, place.entry))
        if (typeof item.id === "string") found.set(item.id, item);
    }
    return [...found.values()];
  }

  async #findPlace(
    person: PersonIds,
    id: string,
  ): Promise<{ readonly session: SessionId; readonly entry: EntryId } | undefined> {
    for (const principal of listPersonIds(person)) {
      const fact = await this.#kernel.findFact(buildFactName(principal, id));
      if (fact)
        return typeof fact.value === "string" ? { session: fact.session, entry: fact.value } : undefined;
    }
    return undefined;
  }

  async #readItems(session: SessionId, id: EntryId): Promise<readonly WireObject[]> {
    await using own = await this.#kernel.session(session);
    const entry = await own.entry(id);
    if (entry?.kind !== "message") return [];
    const { loadBase64, restore } = createLoggedContent(this.#kernel.blobs);
    return encodeResponsesItems(entry.message, {
      base64: async ({ digest }) => (await loadBase64(digest)) ?? "",
      restore: async (part) => (part.type === "blob" ? restore(part) : part),
    });
  }
}

function buildFactName(principal: string, item: string): string {
  return `gateway item ${principal} ${item}`;
}
