import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The words that agents have to find. */
export const WORDS = ["heliotrope", "quicksilver"] as const;

/** A file that a scenario asks for and nobody writes. */
export const LOST = "lost-notes.txt";

/** The names of so many notes. */
export function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `notes-${index + 1}.txt`);
}

/** Which notes there are, and how long they are. */
export interface Notes {
  readonly files: readonly string[];
  /** Lines of each file; 300, about 4,000 tokens, by default. */
  readonly lines?: number;
  /** Lines of the first of several files. */
  readonly firstLines?: number;
}

/** Writes the notes of a turn, each with the word of the day in the first line. */
export async function writeNotes(project: string, word: string, notes: Notes): Promise<void> {
  const { files, lines: most = 300, firstLines = most } = notes;
  const names = new Set(["notes.txt", ...numbered(3), ...files]);
  names.delete(LOST);
  for (const name of names) {
    const lines = Array.from(
      { length: name === "notes-1.txt" ? firstLines : most },
      (_, index) => `${name} ${index + 1}: what happened in hour ${index} was written down`,
    );
    await writeFile(join(project, name), `The word of the day is ${word}.\n${lines.join("\n")}\n`);
  }
}
