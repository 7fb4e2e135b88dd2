import type { LineContent } from "../../../kernel/calls/former-lines.ts";
import type { Presence } from "../../../kernel/faces/log.ts";
import type { Kernel, SessionId } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";

const DIGEST_DIGITS = 32;

/** Thrown when another gateway has continued a conversation after this one has found it: it must be found again. */
export class OvertakenRequest extends Error {
  override readonly name = "OvertakenRequest";
}

/**
 * Tells which conversations other gateways are answering at this moment. The first message of each question has a key with
 * the name of its gateway in the table of places, written in the same commit, and another one once the request has ended
 * without a whole reply. The name of a gateway that was killed says nothing.
 */
export class AskedRequests {
  readonly #kernel: Pick<Kernel, "places">;
  readonly #presence: Pick<Presence, "owner" | "listOthers">;

  constructor(kernel: Pick<Kernel, "places">, presence: Pick<Presence, "owner" | "listOthers">) {
    this.#kernel = kernel;
    this.#presence = presence;
  }

  /** The key of the first message of a question that this gateway answers. */
  get place(): string {
    return buildAskedPlace(this.#presence.owner);
  }

  /** Records that this gateway answers a question which was stored before. */
  recordAsked(session: SessionId, seq: number): Promise<void> {
    return this.#kernel.places.put([{ key: this.place, session, seq }]);
  }

  /** Records that the request with a question has ended without a whole reply. */
  recordEnd(session: SessionId, seq: number): Promise<void> {
    return this.#kernel.places.put([{ key: buildEndedPlace(this.#presence.owner), session, seq }]);
  }

  /** True if another gateway is answering a question that begins with a message. */
  async isAnsweredElsewhere(session: SessionId, seq: number): Promise<boolean> {
    const others = await this.#presence.listOthers();
    if (others.length === 0) return false;
    const places = await this.#kernel.places.ofSession(session);
    const keys = new Set(places.flatMap((place) => (place.seq === seq ? [place.key] : [])));
    return others.some((owner) => keys.has(buildAskedPlace(owner)) && !keys.has(buildEndedPlace(owner)));
  }
}

/** The message that the unanswered question at the end of a line begins with; undefined if all are answered. */
export function findQuestion({ messages, roles }: LineContent): LineContent["messages"][number] | undefined {
  return messages[roles.lastIndexOf("assistant") + 1];
}

/** The key of the first message of a question that a gateway answers. */
function buildAskedPlace(gateway: string): string {
  return computeDigest(`asked ${gateway}`, DIGEST_DIGITS);
}

/** The key of that message once the request has ended without a whole reply. */
function buildEndedPlace(gateway: string): string {
  return computeDigest(`ended ${gateway}`, DIGEST_DIGITS);
}
