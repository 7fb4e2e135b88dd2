import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The pages of the site in the order of its side bar, by the three doors of docs/README.md. */
export const SECTIONS: readonly (readonly [title: string, pages: readonly string[]])[] = [
  ["Start", ["README.md", "faq.md", "glossary.md"]],
  ["I run agents", ["gateway.md", "dashboard.md", "formats.md", "cli.md", "configuration.md", "money.md"]],
  ["I build agents", ["library.md", "window.md", "memory.md", "tasks.md", "integrations.md", "errors.md"]],
  ["I run a team", ["team.md", "deploying.md", "security.md"]],
  [
    "Inside",
    [
      "benchmarks.md",
      "internals/architecture.md",
      "internals/log-format.md",
      "internals/search.md",
      "decisions/README.md",
    ],
  ],
];

/** The first heading of a page. */
export function readTitle(page: string): string {
  return /^# (.+)$/m.exec(readPage(page))?.[1] ?? page;
}

/** The list of pages for language models: title, address and first sentence of each. */
export function buildLlmsText(): string {
  const sections = SECTIONS.map(([title, pages]) => {
    const lines = pages.map((page) => `- [${readTitle(page)}](${page}): ${readFirstSentence(page)}`);
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  const begin =
    "# longhaul\n\n> The memory of long-running AI agents: a log, a window, recall, a gateway and a dashboard.";
  return `${[begin, ...sections].join("\n\n")}\n`;
}

function readPage(page: string): string {
  return readFileSync(`${root}docs/${page}`, "utf8");
}

function readFirstSentence(page: string): string {
  const paragraphs = readPage(page).split(/\n{2,}/);
  const first = paragraphs.find((one) => /^[\p{L}`*]/u.test(one)) ?? "";
  const plain = first.replaceAll(/\s+/g, " ").replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return /^.*?[.!?](?= |$)/.exec(plain.replaceAll("**", ""))?.[0] ?? plain;
}
