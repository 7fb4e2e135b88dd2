// The configuration of VitePress, which build-site.ts hands to it: search of its own, light and dark.
import { readTitle, root, SECTIONS } from "./site-pages.ts";

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
  themeConfig: {
    search: { provider: "local" },
    outline: "deep",
    sidebar: SECTIONS.map(([text, pages]) => ({
      text,
      items: pages.map((page) => ({ text: readTitle(page), link: toAddress(page) })),
    })),
  },
};
