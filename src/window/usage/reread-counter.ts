import { checkFields } from "../../model/argument-checks.ts";
import { type Message, requireParts } from "../../model/message.ts";
import { findTouches } from "../effects/find-touches.ts";
import { isCovering, type LineRange } from "../effects/line-range.ts";

/** Counts reads of files that the agent had read before and not changed since. */
export class RereadCounter {
  readonly #ranges = new Map<string, (LineRange | undefined)[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  observe(message: Message): void {
    checkFields("message", message, { parts: "array" });
    for (const part of requireParts(message)) {
      if (part.type !== "tool-call") continue;
      for (const { kind, path, range } of findTouches(part)) {
        if (path === undefined || kind === "run") continue;
        const known = this.#ranges.get(path) ?? [];
        if (kind !== "read") this.#ranges.delete(path);
        else if (known.some((one) => isCovering(one, range))) this.#count++;
        else this.#ranges.set(path, [...known, range]);
      }
    }
  }
}
