import { listPartTexts } from "../../window/extract/part-text.ts";
import { scanIdentifiers } from "../../window/extract/scan-identifiers.ts";
import { stripLine } from "../../window/extract/verbatim-line.ts";
import { isExtract } from "../../window/policies/longhaul/extract-notes.ts";
import type { Slot } from "../../window/slot.ts";

const HEADING = /^## /;
const FENCE = /^<\/?quoted-data\b/;
const SOURCE = /^\[#\d+ .*\]$/;
const ELISION = " … ";
const MIN_PIECE = 8;

/**
 * Removes the lines of a summary that a window shows anyway: words that the window contains, and rows whose identifiers it contains.
 * A summary has to pay for its own tokens on every call, so it must not repeat what the window keeps. Beside an extract,
 * which has weighed every line and identifier by its price, it quotes none of them either. Empty if nothing is left.
 */
export function dropShownLines(summary: string, window: readonly Slot[]): string {
  const shown = new ShownText(window);
  const kept: string[] = [];
  for (const line of summary.split("\n")) {
    if (HEADING.test(line)) dropEmptyTail(kept, HEADING);
    if (SOURCE.test(line)) dropEmptyTail(kept, SOURCE);
    if (/^<\/quoted-data\b/.test(line)) {
      dropEmptyTail(kept, SOURCE);
      if (FENCE.test(kept.at(-1) ?? "")) kept.pop();
      else kept.push(line);
    } else if (HEADING.test(line) || SOURCE.test(line) || FENCE.test(line)) kept.push(line);
    else {
      const rest = shown.dropShown(line);
      if (rest !== undefined) kept.push(rest);
    }
  }
  dropEmptyTail(kept, HEADING);
  return kept.join("\n").trim();
}

/** Removes a heading that no line has followed. */
function dropEmptyTail(lines: string[], heading: RegExp): void {
  while (lines.at(-1) === "") lines.pop();
  if (heading.test(lines.at(-1) ?? "")) lines.pop();
}

/** The text and the identifiers of a window. */
class ShownText {
  readonly #text: string;
  readonly #identifiers = new Set<string>();
  readonly #hasExtract: boolean;

  constructor(window: readonly Slot[]) {
    const texts = window.flatMap(({ message }) => listPartTexts(message, () => undefined));
    this.#text = texts.map(({ text }) => text.replaceAll(/\s+/g, " ")).join("\n");
    this.#hasExtract = window.some(isExtract);
    scanIdentifiers(this.#text, true, (identifier) => this.#identifiers.add(identifier));
  }

  /** The line without its shown identifiers; undefined if the window shows all of it. */
  dropShown(line: string): string | undefined {
    const bare = line.replace(/^(?:- |\| )/, "");
    if (bare.trim() === "" || bare === "None.") return undefined;
    if (this.#hasExtract && line.startsWith("| ")) return undefined;
    if (line.startsWith("- ") && isIdentifierList(bare)) {
      if (this.#hasExtract) return undefined;
      const rest = bare
        .split(", ")
        .filter((name) => !this.#identifiers.has(name) && !this.#text.includes(name));
      return rest.length === 0 ? undefined : `- ${rest.join(", ")}`;
    }
    return this.#isShown(bare) ? undefined : line;
  }

  #isShown(bare: string): boolean {
    const words = bare.replace(/^#\d+ (?:\w+: )?/, "");
    const pieces = words
      .split(ELISION)
      .map((piece) => stripLine(piece.replaceAll(/^"|"$/g, "")).replaceAll(/\s+/g, " "))
      .filter(({ length }) => length >= MIN_PIECE);
    if (pieces.length > 0 && pieces.every((piece) => this.#text.includes(piece))) return true;
    // A row about files or commands says nothing new if the window names all of them.
    if (/^#\d+ \w+: "/.test(bare) || !bare.startsWith("#")) return false;
    const identifiers: string[] = [];
    scanIdentifiers(words, false, (identifier) => identifiers.push(identifier));
    return identifiers.length > 0 && identifiers.every((identifier) => this.#identifiers.has(identifier));
  }
}

/** True for a row of names without words between them. */
function isIdentifierList(bare: string): boolean {
  const names = bare.split(", ");
  return names.length > 1 && names.every((name) => !name.includes(" "));
}
