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
  const sources = fileURLToPath(new URL("../../src/kernel/index.ts", import.meta.url));
  execFileSync(process.execPath, [sources], { env: { ...process.env, ...COMPILE_CACHE } });
}
