import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A Markdown page, by its path from the root. */
export interface DocPage {
  readonly path: string;
  readonly text: string;
}

/** README.md, all pages of docs, and the README of the examples. */
export function readPages(): readonly DocPage[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true })
    .map((path) => join("docs", String(path)))
    .filter((path) => path.endsWith(".md"))
    .sort();
  return ["README.md", ...docs, "examples/README.md"].map((path) => ({
    path,
    text: readFileSync(join(root, path), "utf8"),
  }));
}
