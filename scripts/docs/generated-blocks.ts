import { buildErrorTable } from "./error-table.ts";
import { buildInstallLines, buildStartLines, buildUnitLines } from "./install-lines.ts";
import { buildSettingsTable } from "./settings-table.ts";

/** Builders of the blocks in pages, by the name between the marks. */
const BUILDERS: Readonly<Record<string, () => string>> = {
  errors: buildErrorTable,
  install: buildInstallLines,
  settings: buildSettingsTable,
  start: buildStartLines,
  units: buildUnitLines,
};

/** Pages that contain such blocks. */
export const PAGES_WITH_BLOCKS = [
  "README.md",
  "docs/README.md",
  "docs/configuration.md",
  "docs/deploying.md",
  "docs/errors.md",
];

const BLOCK = /(<!-- from the program: (\w+) -->\n)[\s\S]*?<!-- end -->/g;

/** Replaces the blocks of a page that come from the program. */
export function fillBlocks(page: string): string {
  return page.replaceAll(BLOCK, (_block, begin: string, name: string) => {
    const build = BUILDERS[name];
    if (build === undefined) throw new Error(`Nothing builds the block ${name}`);
    return `${begin}\n${build()}\n\n<!-- end -->`;
  });
}
