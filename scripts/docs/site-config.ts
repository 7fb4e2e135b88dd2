// The configuration of VitePress, which build-site.ts hands to it: search of its own, light and dark.
import { readTitle, root, SECTIONS } from "./site-pages.ts";

/** The part of markdown-it that the configuration uses. */
interface MarkdownParser {
  readonly core: {
    readonly ruler: {
      before(rule: string, name: string, change: (state: { src: string }) => void): void;
    };
  };
}

const toAddress = (page: string) => `/${page.replace(/README\.md$/, "").replace(/\.md$/, "")}`;

export default {
  title: "longhaul",
  description: "The memory of long-running AI agents",
  srcDir: `${root}docs`,
  outDir: `${root}site`,
  cacheDir: `${root}node_modules/.cache/vitepress`,
  cleanUrls: true,
  // Files next to docs/, such as examples and scripts, are part of a clone and not of the site.
  ignoreDeadLinks: [/\.\.\/(?!docs)/],
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  markdown: {
    // Placeholders such as <session> are text; the marks around generated blocks are left out.
    html: false,
    config: ({ core }: MarkdownParser) =>
      core.ruler.before("normalize", "marks", (state) => {
        state.src = state.src.replaceAll(/^<!--.*-->$/gm, "");
      }),
  },
  themeConfig: {
    search: { provider: "local" },
    outline: "deep",
    sidebar: SECTIONS.map(([text, pages]) => ({
      text,
      items: pages.map((page) => ({ text: readTitle(page), link: toAddress(page) })),
    })),
  },
};
