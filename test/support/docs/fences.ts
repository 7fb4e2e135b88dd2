import type { DocPage } from "./pages.ts";

/** A fenced block of a page, without its indentation. */
export interface Fence {
  /** The word after the opening fence; empty for plain text and shell. */
  readonly language: string;
  readonly code: string;
}

const FENCE = /^( *)(`{3,})(\w*)\n([\s\S]*?)^\1\2$/gm;

/** The fenced blocks of a page. */
export function fencesOf({ text }: DocPage): readonly Fence[] {
  return [...text.matchAll(FENCE)].map(([, indent = "", , language = "", code = ""]) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** The text of a page without its fenced blocks. */
export function proseOf({ text }: DocPage): string {
  return text.replaceAll(FENCE, "");
}
