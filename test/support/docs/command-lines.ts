import { fencesOf, proseOf } from "./fences.ts";
import type { DocPage } from "./pages.ts";

/** A call of the program that a page shows. */
export interface CommandLine {
  readonly text: string;
  /** The first words after `longhaul`: a command, or a group and one of its commands. */
  readonly words: readonly string[];
  /** Flags with their dashes; those after `--` belong to another program. */
  readonly flags: readonly string[];
}

const INLINE = /`(longhaul [^`]+)`/g;
const CALL = /(?:^|\$\(|xargs |run )longhaul (?:-- )?(.+)$/gm;

/** The calls in blocks without a language or with the language `sh`, and in code within sentences. */
export function commandLinesOf(page: DocPage): readonly CommandLine[] {
  const blocks = fencesOf(page)
    .filter(({ language }) => language === "" || language === "sh")
    .map(({ code }) => code.replaceAll(/\n +(?=\[--)/g, " "));
  const inline = [...proseOf(page).matchAll(INLINE)].map(([, code = ""]) => code.replaceAll(/\s+/g, " "));
  return [...blocks, ...inline].flatMap((code) =>
    [...code.matchAll(CALL)].map(([, call = ""]) => lineOf(call)),
  );
}

/** Leaves out the arguments of other programs: those after `--`, and those of the next program of a pipe. */
function lineOf(call: string): CommandLine {
  const [own = ""] = call.split(/ -- | \| (?=[a-z])/);
  const words = own.split(/\s+/);
  const firstOther = words.findIndex((word) => !/^[a-z]+$/.test(word));
  return {
    text: `longhaul ${own.trim()}`,
    words: words.slice(0, firstOther < 0 ? 2 : Math.min(firstOther, 2)),
    flags: [...own.matchAll(/(?<=^|[\s[])--?[a-z][\w-]*/gi)].map(([flag]) => flag),
  };
}
