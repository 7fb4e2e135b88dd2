// Builds the site of docs/ into site/, with llms.txt. VitePress is installed on first use into the user's cache folder, and is not
// a development package: it takes 102 MB with a second Vite (decision 0065).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { buildLlmsText, root } from "./site-pages.ts";

const VERSION = "1.6.4";
const cache = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "longhaul",
  `vitepress-${VERSION}`,
);
const program = join(cache, "node_modules", "vitepress", "bin", "vitepress.js");

if (!existsSync(program)) {
  console.log(`Installing VitePress ${VERSION} into ${cache}`);
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), '{ "private": true, "type": "module" }\n');
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"];
  const { status } = spawnSync("npm", ["install", ...options, `vitepress@${VERSION}`], {
    cwd: cache,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0)
    throw new Error(`npm could not install VitePress ${VERSION}; the pages themselves are written`);
}
mkdirSync(join(cache, ".vitepress"), { recursive: true });
const config = JSON.stringify(join(root, "scripts/docs/site-config.ts"));
writeFileSync(join(cache, ".vitepress", "config.mjs"), `export { default } from ${config};\n`);
const { status } = spawnSync(process.execPath, [program, "build", cache], { stdio: "inherit" });
if (status !== 0) throw new Error("VitePress could not build the site; its output above says why");
writeFileSync(join(root, "site", "llms.txt"), buildLlmsText());
console.log(`Built ${join(root, "site")}`);
