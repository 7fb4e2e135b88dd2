/** What a person asks for by `/compact`. */
export interface CompactCommand {
  /** What the summary is to heed, if anything was said behind it. */
  readonly instructions?: string;
}

/** Reads a message that begins with `/compact`; undefined for any other. Whoever takes messages in decides whether it counts. */
export function readCompactCommand(text: string): CompactCommand | undefined {
  const match = /^\s*\/compact(?:\s+([\s\S]*\S))?\s*$/.exec(text);
  if (!match) return undefined;
  return match[1] === undefined ? {} : { instructions: match[1] };
}
