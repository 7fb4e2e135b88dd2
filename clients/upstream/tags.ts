import type { Asked } from "./asked.ts";

// Some clients offer no tools: they describe them in the system prompt, and calls and results are text.

/** Whether a client's tools are called by tags in the text. */
export function speaksInTags({ lead, tools }: Asked): boolean {
  return tools.length === 0 && lead.includes("<read_file>") && lead.includes("<attempt_completion>");
}

/** A call that reads a file. */
export function readInTags(file: string): string {
  return `<read_file>\n<path>${file}</path>\n</read_file>`;
}

export function finalInTags(text: string): string {
  return `<attempt_completion>\n<result>${text}</result>\n</attempt_completion>`;
}

/** The tool results in a client's message. */
export function resultsInTags(text: string): readonly string[] {
  return /\[read_file for [^\]]*\] Result:/.test(text) ? [text] : [];
}
