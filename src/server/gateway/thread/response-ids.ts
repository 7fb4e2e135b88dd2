import type { Blobs, ClaimedFact } from "../../../kernel/faces/log.ts";
import type { EntryId, Json, Kernel, MessageInput, SessionId } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { encodeResponsesItems } from "../../../wire/openai-responses/encode-responses-items.ts";
import type { LoggedContent, WireObject } from "../../../wire/wire.ts";
import { listPersonIds, type PersonIds } from "../identity/person-ids.ts";
import type { HiddenEnd } from "../request/chain.ts";

/** A reply that a client may name in a later request. */
interface ReplyReference {
  /** Undefined if the log does not contain the reply. */
  readonly place: Promise<ResponsePlace | undefined>;
  /** False for a reply that is known only as long as the gateway runs. */
  readonly isStored: boolean;
  /** Instructions among the items of its request, unless they are stored with an earlier reply. */
  readonly lead?: readonly MessageInput[] | undefined;
}

interface RecentReply {
  readonly place: Promise<ResponsePlace | undefined>;
  readonly written: Promise<void>;
}

/**
 * The places of replies that providers know by id. A place is stored as a fact of its session, named after the response,
 * so that it is found after a restart and by other processes, and removed with the session.
 */
export class ResponseIds {
  readonly #kernel: Kernel;
  readonly #onError: (error: unknown) => void;
  readonly #recentReplies: BoundedMap<string, RecentReply>;

  /** At most `maxReplies` places are held in memory; others are read from the store. */
  constructor(kernel: Kernel, onError: (error: unknown) => void, maxReplies: () => number) {
    this.#kernel = kernel;
    this.#onError = onError;
    this.#recentReplies = new BoundedMap({ max: maxReplies });
  }

  /** Records the place of a reply; later requests can refer to it at once. Resolves when it is stored. */
  add(principal: string, response: string, { place, isStored, lead }: ReplyReference): Promise<void> {
    const name = buildFactName(principal, response);
    // The caller that awaits the reply itself handles its errors.
    const safePlace = place.catch(() => undefined);
    const written = safePlace
      .then((found) => (found && isStored ? this.#store(name, found, lead) : undefined))
      .catch(this.#onError);
    this.#recentReplies.set(name, { place: safePlace, written });
    return written;
  }

  /** The place of a reply; undefined if unknown. */
  async find(principal: PersonIds, response: string): Promise<ResponsePlace | undefined> {
    const recent = this.#recentReplies.get(buildFactName(principal.id, response));
    if (recent) return recent.place;
    // A client gets the end of a reply after its place is stored, so other gateways need not be waited for.
    const fact = await this.#findFact(principal, (id) => buildFactName(id, response));
    return fact && parseResponsePlace(fact.session, fact.value);
  }

  /** The instructions stored with a reply. */
  async lead(principal: PersonIds, response: string | undefined): Promise<readonly MessageInput[]> {
    if (response === undefined) return [];
    await this.#recentReplies.get(buildFactName(principal.id, response))?.written;
    const lead = (await this.#findFact(principal, (id) => buildLeadName(buildFactName(id, response))))?.value;
    return Array.isArray(lead) ? (lead as unknown as readonly MessageInput[]) : [];
  }

  /** The fact of the first of a person's ids that has it. */
  async #findFact(principal: PersonIds, buildName: (id: string) => string): Promise<ClaimedFact | undefined> {
    for (const id of listPersonIds(principal)) {
      const fact = await this.#kernel.findFact(buildName(id));
      if (fact) return fact;
    }
    return undefined;
  }

  async #store(name: string, place: ResponsePlace, lead: readonly MessageInput[] | undefined): Promise<void> {
    const earlier = await this.#kernel.findFact(name);
    // An id that an upstream gives to replies of several conversations is ambiguous, now and later.
    if (earlier?.value === null) return;
    await using session = await this.#kernel.session(earlier?.session ?? place.session);
    const isAmbiguous = session.id !== place.session;
    if (lead && !isAmbiguous) await session.facts.claim(buildLeadName(name), lead as unknown as Json);
    await session.facts.claim(name, isAmbiguous ? null : encodeResponsePlace(place));
  }
}

function buildLeadName(name: string): string {
  return `${name} lead`;
}

function buildFactName(principal: string, response: string): string {
  return `gateway response ${principal} ${response}`;
}

/**
 * The position of a reply that a provider knows by id, for requests that refer to it instead of repeating earlier
 * messages.
 */
export interface ResponsePlace {
  readonly session: SessionId;
  /** The entry that such a request follows. */
  readonly entry: EntryId;
  /** True if the log contains everything up to that entry. */
  readonly isWhole: boolean;
  /** Id of the response that the instructions of the first request are stored with. */
  readonly lead?: string;
  readonly hidden?: HiddenEnd;
}

/** A place as stored; the session is stored separately. */
function encodeResponsePlace({ session: _, ...place }: ResponsePlace): Json {
  return place as unknown as Json;
}

/** Parses a stored place; undefined if it is invalid. */
function parseResponsePlace(session: SessionId, stored: Json | undefined): ResponsePlace | undefined {
  const { entry, isWhole, lead, hidden } = toJsonObject(stored);
  if (typeof entry !== "string") return undefined;
  const more = dropUndefined({ hidden: hidden as HiddenEnd | undefined });
  return { session, entry, isWhole: isWhole === true, ...(typeof lead === "string" && { lead }), ...more };
}

function toJsonObject(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })
    : {};
}

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
        const name = buildItemFactName(principal, id);
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
      const fact = await this.#kernel.findFact(buildItemFactName(principal, id));
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

function buildItemFactName(principal: string, item: string): string {
  return `gateway item ${principal} ${item}`;
}

/** Access to the large contents of logged messages; content that is gone is undefined. */
export function createLoggedContent(blobs: Pick<Blobs, "bytes" | "restoreReadable">): LoggedContent {
  return {
    loadBase64: async (digest) => {
      try {
        return Buffer.from(await blobs.bytes(digest)).toString("base64");
      } catch {
        return undefined;
      }
    },
    restore: (part) => blobs.restoreReadable(part),
  };
}
