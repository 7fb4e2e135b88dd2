import type { Message } from "../../model/message.ts";
import { identifiersOf } from "../extract/identifiers.ts";
import { saidIn } from "../extract/said.ts";
import { bareLine, isVerbatim } from "../extract/verbatim-line.ts";

/** References in a message: identifiers, and verbatim lines prefixed with a line break. */
export type References = ReadonlySet<string>;

/**
 * Finds references, independently of any policy. Caches the references of a message for as long as the message lives.
 */
export class ReferenceReader {
  readonly #offered = new WeakMap<Message, References>();

  /** All references that a message contains. */
  offeredBy(message: Message): References {
    const known = this.#offered.get(message);
    if (known) return known;
    const offered = new Set<string>();
    for (const { text } of saidIn(message, () => undefined)) collect(text, true, offered);
    this.#offered.set(message, offered);
    return offered;
  }

  /** The references in the assistant's text and calls; reasoning does not count. */
  usedBy(message: Message): References {
    const used = new Set<string>();
    for (const { text, origin } of saidIn(message, () => undefined))
      if (origin !== "reasoning") collect(text, false, used);
    return used;
  }
}

/** True for a reference to a line, false for one to an identifier. */
export function isLineReference(reference: string): boolean {
  return reference.startsWith("\n");
}

function collect(text: string, isWide: boolean, into: Set<string>): void {
  for (const line of text.split("\n")) {
    identifiersOf(line, isWide, (identifier) => into.add(identifier));
    const bare = bareLine(line);
    if (isVerbatim(bare)) into.add(`\n${bare}`);
  }
}
