import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds the package before the tests that run the built program; quick if no source has changed. */
export default function build(): void {
  const setup = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));
  execFileSync(process.execPath, [setup], { stdio: ["ignore", "ignore", "inherit"] });
}
