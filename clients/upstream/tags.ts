import type { Asked } from "./asked.ts";

// Some clients offer no tools: they describe them in the system prompt, and calls and results are text.

/** True for a client whose tools are called by tags in the text. */
export function speaksInTags({ lead, tools }: Asked): boolean {
  return tools.length === 0 && lead.includes("<read_file>") && lead.includes("<attempt_completion>");
}

/** A call that reads a file. */
export function readInTags(file: string): string {
  return `<read_file>\n<path>${file}</path>\n</read_file>`;
}

/** A final answer. */
export function finalInTags(text: string): string {
  return `<attempt_completion>\n<result>${text}</result>\n</attempt_completion>`;
}

/** What a message of the client gives back of what was read. */
export function resultsInTags(text: string): readonly string[] {
  return /\[read_file for [^\]]*\] Result:/.test(text) ? [text] : [];
}
