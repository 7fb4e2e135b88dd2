import type { Json, Kernel, MessageInput } from "../../index.ts";
import { placeJson, placeOf, type ResponsePlace } from "../thread/response-place.ts";

/** A reply that a client may name in a later request. */
export interface NamedReply {
  /** Undefined if nothing of it is in the log. */
  readonly place: Promise<ResponsePlace | undefined>;
  /** False for a reply that is known as long as the gateway runs. */
  readonly isKept: boolean;
  /** Instructions that stood among the items of its request, where they are not kept with an earlier reply. */
  readonly lead?: readonly MessageInput[] | undefined;
}

interface Noted {
  readonly place: Promise<ResponsePlace | undefined>;
  readonly written: Promise<void>;
}

/**
 * Where the replies are that providers know by an id. A place is kept with the session that it is in, as an intake of the
 * response's name, so that it is found after a restart and by other processes, and goes when the session is deleted.
 */
export class ResponseIds {
  readonly #kernel: Kernel;
  readonly #onError: (error: unknown) => void;
  readonly #most: () => number;
  readonly #noted = new Map<string, Noted>();

  /** `most` places are held in memory; others are read from the store. */
  constructor(kernel: Kernel, onError: (error: unknown) => void, most: () => number) {
    this.#kernel = kernel;
    this.#onError = onError;
    this.#most = most;
  }

  /** Notes where a reply is; from now on a request that names it finds it. Resolves when it is kept. */
  note(principal: string, response: string, { place, isKept, lead }: NamedReply): Promise<void> {
    const name = nameOf(principal, response);
    // The last word is that of whoever waits for the reply itself.
    const known = place.catch(() => undefined);
    const written = known
      .then((found) => (found && isKept ? this.#keep(name, found, lead) : undefined))
      .catch(this.#onError);
    this.#noted.delete(name);
    this.#noted.set(name, { place: known, written });
    for (const oldest of this.#noted.keys()) {
      if (this.#noted.size <= this.#most()) break;
      this.#noted.delete(oldest);
    }
    return written;
  }

  /** Where a reply is; undefined if it is not known. */
  async find(principal: string, response: string): Promise<ResponsePlace | undefined> {
    const name = nameOf(principal, response);
    const noted = this.#noted.get(name);
    if (noted) return noted.place;
    const kept = await this.#kernel.intake(name);
    return kept && placeOf(kept.session, kept.checkpoint);
  }

  /** The instructions that are kept with a reply. */
  async lead(principal: string, response: string | undefined): Promise<readonly MessageInput[]> {
    if (response === undefined) return [];
    const name = nameOf(principal, response);
    await this.#noted.get(name)?.written;
    const lead = (await this.#kernel.intake(name))?.progress;
    return Array.isArray(lead) ? (lead as unknown as readonly MessageInput[]) : [];
  }

  async #keep(name: string, place: ResponsePlace, lead: readonly MessageInput[] | undefined): Promise<void> {
    const known = await this.#kernel.intake(name);
    // An upstream that gives one id to replies of several conversations says nothing with it, then and later.
    if (known?.checkpoint === null) return;
    if (known && known.session !== place.session) return known.save({ checkpoint: null });
    const intake = known ?? (await this.#open(name, place));
    await intake.save({ checkpoint: placeJson(place), ...(lead && { progress: lead as unknown as Json }) });
  }

  async #open(name: string, { session }: ResponsePlace) {
    await using handle = await this.#kernel.session(session);
    return handle.intake(name);
  }
}

function nameOf(principal: string, response: string): string {
  return `gateway response ${principal} ${response}`;
}
