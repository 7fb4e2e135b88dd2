import type { Presence } from "../../../kernel/faces/log.ts";
import type { Kernel, SessionId } from "../../../kernel/index.ts";
import { buildAskedPlace, buildEndedPlace } from "../identity/conversation-keys.ts";

/** Thrown when another gateway has continued a conversation after this one has found it: it must be found again. */
export class OvertakenRequest extends Error {
  override readonly name = "OvertakenRequest";
}

/**
 * Tells which conversations other gateways are answering at this moment. The last message of each request has a key with
 * the name of its gateway in the table of places, written in the same commit, and another one once it has ended without
 * a whole reply. The name of a gateway that was killed says nothing.
 */
export class AskedRequests {
  readonly #kernel: Pick<Kernel, "places">;
  readonly #presence: Pick<Presence, "owner" | "listOthers">;

  constructor(kernel: Pick<Kernel, "places">, presence: Pick<Presence, "owner" | "listOthers">) {
    this.#kernel = kernel;
    this.#presence = presence;
  }

  /** The key of the last message of a request that this gateway answers. */
  get place(): string {
    return buildAskedPlace(this.#presence.owner);
  }

  /** Records that the request that ends with a message has ended without a whole reply. */
  recordEnd(session: SessionId, seq: number): Promise<void> {
    return this.#kernel.places.put([{ key: buildEndedPlace(this.#presence.owner), session, seq }]);
  }

  /** True if another gateway is answering the request that ends with a message. */
  async isAnsweredElsewhere(session: SessionId, seq: number): Promise<boolean> {
    const others = await this.#presence.listOthers();
    if (others.length === 0) return false;
    const places = await this.#kernel.places.ofSession(session);
    const keys = new Set(places.flatMap((place) => (place.seq === seq ? [place.key] : [])));
    return others.some((owner) => keys.has(buildAskedPlace(owner)) && !keys.has(buildEndedPlace(owner)));
  }
}
