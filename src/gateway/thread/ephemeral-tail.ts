import type { Align } from "../../conversation/conversation.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { alignRequest } from "../identity/align-request.ts";
import { type EphemeralMark, ephemeralMark, looksEphemeral } from "../identity/ephemeral.ts";

/** Messages at the end of requests whose marks are remembered until it is known whether they stay. */
const MOST_ENDS = 16;
const MOST_VANISHED = 8;

/** Learns what a client says at the end of a request and takes back with the next one. */
export class EphemeralTail {
  readonly #ends = new Map<string, EphemeralMark>();
  #vanished: EphemeralMark[] = [];

  /** Compares a line with a request, and notes what has vanished. */
  readonly align: Align<WireMessage> = (line, given) => {
    const alignment = alignRequest(line, {
      keys: given.map(({ key }) => key),
      roles: given.map(({ role }) => role),
    });
    if (alignment.type === "drop")
      for (const place of alignment.places) this.#note(this.#ends.get(line.keys[place] ?? ""));
    return alignment;
  };

  /** The messages at the end of a request that look as if they would vanish. */
  of(messages: readonly WireMessage[]): readonly WireMessage[] {
    const last = messages.at(-1);
    const before = messages.at(-2);
    if (!last || !before || (last.role !== "user" && last.role !== "system")) return [];
    const mark = ephemeralMark(last.input(), before.input());
    if (this.#vanished.length > 0 && looksEphemeral(this.#vanished, mark)) return [last];
    this.#ends.delete(last.key);
    this.#ends.set(last.key, mark);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MOST_ENDS && oldest !== undefined) this.#ends.delete(oldest);
    return [];
  }

  #note(mark: EphemeralMark | undefined): void {
    if (mark) this.#vanished = [mark, ...this.#vanished].slice(0, MOST_VANISHED);
  }
}
