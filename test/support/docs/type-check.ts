import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./pages.ts";

/** Packages that an install of longhaul brings, and the Node types that every TypeScript project on Node has. */
const DEPENDENCIES = ["zod", "@pydantic/genai-prices", "@types/node"];

/** An error inside a package other than longhaul: optional packages have errors that only they can mend. */
const FOREIGN = /^\S*node_modules\/(?!longhaul\/)/;

/**
 * A folder as `npm install longhaul` leaves it, with declarations only. The package is copied, not linked: the compiler
 * follows links, and would find optional packages in the repository.
 */
export function installDeclarations(folder: string, packages: readonly string[] = []): void {
  const modules = join(folder, "node_modules");
  const longhaul = join(modules, "longhaul");
  mkdirSync(longhaul, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  cpSync(join(root, "package.json"), join(longhaul, "package.json"));
  cpSync(join(root, "dist"), join(longhaul, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".js"),
  });
  for (const name of [...DEPENDENCIES, ...packages]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
  }
}

/** Runs the compiler of the project in a folder; returns its errors, except those inside packages of others. */
export function compile(folder: string, args: readonly string[]): readonly string[] {
  const { stdout, stderr, error } = spawnSync(join(root, "node_modules", ".bin", "tsc"), args, {
    cwd: folder,
    encoding: "utf8",
  });
  if (error) throw error;
  return `${stdout}${stderr}`.split(/^(?=\S)/m).filter((line) => line !== "" && !FOREIGN.test(line));
}
