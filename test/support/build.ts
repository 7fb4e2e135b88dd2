import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE } from "./compile-cache.ts";

/**
 * Builds the package before the tests that run the built program, quick if no source has changed, and fills the compile
 * cache: child processes that tests kill cannot.
 */
export default function build(): void {
  const setup = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));
  execFileSync(process.execPath, [setup], { stdio: ["ignore", "ignore", "inherit"] });
  const loaded = ["src/kernel/index.ts", "dist/index.js", "dist/server/entries/gateway.js"];
  const imports = loaded.map(
    (path) => `import ${JSON.stringify(new URL(`../../${path}`, import.meta.url))};`,
  );
  const args = ["--input-type=module", "--eval", imports.join("")];
  execFileSync(process.execPath, args, { env: { ...process.env, ...COMPILE_CACHE } });
}
