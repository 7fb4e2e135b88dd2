// Writes what the pages take from the program: docs/cli.md as a whole, and the blocks of the other pages.
import { readFileSync, writeFileSync } from "node:fs";
import { buildCliPage } from "./cli-page.ts";
import { fillBlocks, PAGES_WITH_BLOCKS } from "./generated-blocks.ts";

const root = new URL("../../", import.meta.url);
writeFileSync(new URL("docs/cli.md", root), await buildCliPage());
for (const page of PAGES_WITH_BLOCKS) {
  const path = new URL(page, root);
  writeFileSync(path, fillBlocks(readFileSync(path, "utf8")));
}
