import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The words that agents have to find. */
export const WORDS = ["heliotrope", "quicksilver"] as const;

const LINES = 300;

/** Writes the notes of a turn, each about 4,000 tokens long, with the word of the day in the first line. */
export async function writeNotes(project: string, word: string, firstLines = LINES): Promise<void> {
  for (const name of ["notes.txt", "notes-1.txt", "notes-2.txt", "notes-3.txt"]) {
    const lines = Array.from(
      { length: name === "notes-1.txt" ? firstLines : LINES },
      (_, index) => `${name} ${index + 1}: what happened in hour ${index} was written down`,
    );
    await writeFile(join(project, name), `The word of the day is ${word}.\n${lines.join("\n")}\n`);
  }
}
