import { fencesOf } from "./fences.ts";
import type { DocPage } from "./pages.ts";

/** A TypeScript program that a page shows, in one block or several. */
export interface DocProgram {
  /** The page and the number of the program on it, as in "docs/window.md 1". */
  readonly name: string;
  readonly page: DocPage;
  readonly code: string;
  /** Number of blocks. */
  readonly blocks: number;
}

const OWN_IMPORT = /from "longhaul(?:\/\w+)?"/;

/** The programs of a page: a block that imports longhaul begins one, other blocks continue it. */
export function programsOf(page: DocPage): readonly DocProgram[] {
  const programs: { code: string; blocks: number }[] = [];
  for (const { language, code: block } of fencesOf(page)) {
    if (language !== "ts") continue;
    const last = programs.at(-1);
    if (last === undefined || OWN_IMPORT.test(block)) programs.push({ code: block, blocks: 1 });
    else {
      last.code += `\n${block}`;
      last.blocks++;
    }
  }
  return programs.map((program, index) => ({ name: `${page.path} ${index + 1}`, page, ...program }));
}

/** Packages that an entry of longhaul needs. */
const ENTRY_PEERS: Readonly<Record<string, string>> = {
  ai: "ai",
  langchain: "@langchain/core",
  "openai-agents": "@openai/agents-core",
};
const OPTIONAL = /^(?:ai$|@ai-sdk\/|@langchain\/|@openai\/)/;

/** Optional packages that a program imports, or that its entry of longhaul needs. */
export function peersOf({ code }: DocProgram): readonly string[] {
  const packages = [...code.matchAll(/from "((?:@[\w-]+\/)?[\w-]+)[/"]/g)].map(([, name = ""]) => name);
  for (const [entry, name] of Object.entries(ENTRY_PEERS))
    if (code.includes(`from "longhaul/${entry}"`)) packages.push(name);
  return [...new Set(packages)].filter((name) => OPTIONAL.test(name));
}

/** A file name for a program. */
export function fileOf({ name }: DocProgram): string {
  return `${name.replaceAll(/\W+/g, "-")}.ts`;
}
