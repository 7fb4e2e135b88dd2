import type { Message } from "../../model/message.ts";
import { listPartTexts, type TextOrigin } from "../extract/part-text.ts";
import { scanIdentifiers } from "../extract/scan-identifiers.ts";
import { isVerbatim, stripLine } from "../extract/verbatim-line.ts";

/** Shorter lines, such as brackets, stand in every text. */
const MIN_LINE = 4;

/** References in a message: identifiers, and verbatim lines prefixed with a line break. */
type References = ReadonlySet<string>;

/** The references of one part of a message. */
interface PartReferences {
  readonly references: References;
  readonly origin: TextOrigin;
  readonly characters: number;
}

/**
 * Finds references, independently of any policy. Caches the references of a message for as long as the message lives.
 */
export class ReferenceReader {
  readonly #references = new WeakMap<Message, References>();
  readonly #parts = new WeakMap<Message, readonly PartReferences[]>();
  readonly #lines = new WeakMap<Message, ReadonlySet<string>>();

  /** The references that a message contains, part by part; parts without text are left out. */
  readParts(message: Message): readonly PartReferences[] {
    const known = this.#parts.get(message);
    if (known) return known;
    const parts = listPartTexts(message, () => undefined).map(({ text, origin }) => {
      const references = new Set<string>();
      collectReferences(text, true, references);
      return { references, origin, characters: text.length };
    });
    this.#parts.set(message, parts);
    return parts;
  }

  /** All references that a message contains. */
  readOffered(message: Message): References {
    const known = this.#references.get(message);
    if (known) return known;
    const parts = this.readParts(message);
    const [first] = parts;
    const offered =
      first && parts.length === 1
        ? first.references
        : new Set(parts.flatMap(({ references }) => [...references]));
    this.#references.set(message, offered);
    return offered;
  }

  /** All lines of a message but the shortest, without indentation and line numbers. */
  readLines(message: Message): ReadonlySet<string> {
    const known = this.#lines.get(message);
    if (known) return known;
    const lines = new Set(listPartTexts(message, () => undefined).flatMap(({ text }) => listTextLines(text)));
    this.#lines.set(message, lines);
    return lines;
  }

  /** The references in the assistant's text and calls; reasoning does not count. */
  readUsed(message: Message): References {
    const used = new Set<string>();
    for (const { text, origin } of listPartTexts(message, () => undefined))
      if (origin !== "reasoning") collectReferences(text, false, used);
    return used;
  }
}

/** The lines of a text but the shortest, as `readLines` lists them. */
export function listTextLines(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const bare = stripLine(line);
    return bare.length >= MIN_LINE ? [bare] : [];
  });
}

/** True for a reference to a line, false for one to an identifier. */
export function isLineReference(reference: string): boolean {
  return reference.startsWith("\n");
}

function collectReferences(text: string, isWide: boolean, into: Set<string>): void {
  for (const line of text.split("\n")) {
    scanIdentifiers(line, isWide, (identifier) => into.add(identifier));
    const bare = stripLine(line);
    if (isVerbatim(bare)) into.add(`\n${bare}`);
  }
}
