import { existsSync, readFileSync } from "node:fs";

/** True while Node runs the TypeScript sources, false in the built package. */
const isSource = import.meta.url.endsWith(".ts");
const root = findRoot(new URL(".", import.meta.url));

/** Returns the URL of a file that the package ships, by its path from the package's folder. */
export function resolvePackageFile(path: string): URL {
  return new URL(path, root);
}

/** Returns the URL of a module that runs on its own (a worker, the program), by its path in `src` without extension. */
export function resolveModuleFile(path: string): URL {
  return resolvePackageFile(isSource ? `src/${path}.ts` : `dist/${path}.js`);
}

/** Returns the URL of a file that the build adds to `dist`; undefined while Node runs the sources. */
export function resolveBuiltFile(path: string): URL | undefined {
  return isSource ? undefined : resolvePackageFile(`dist/${path}`);
}

/** Reads the version of the package. */
export function readVersion(): string {
  return JSON.parse(readFileSync(resolvePackageFile("package.json"), "utf8")).version;
}

/** The package's own folder: the nearest one above this file with a package.json. */
function findRoot(folder: URL): URL {
  for (let at = folder; ; at = new URL("..", at)) {
    if (existsSync(new URL("package.json", at))) return at;
    if (at.pathname === "/" || new URL("..", at).href === at.href) return folder;
  }
}
