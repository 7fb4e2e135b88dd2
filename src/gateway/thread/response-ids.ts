import { BoundedMap } from "../../base/bounded-map.ts";
import type { Json, Kernel, MessageInput } from "../../index.ts";
import type { ClaimedFact } from "../../log-entry.ts";
import { listPersonIds, type PersonIds } from "../identity/person-ids.ts";
import { encodeResponsePlace, parseResponsePlace, type ResponsePlace } from "./response-place.ts";

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
