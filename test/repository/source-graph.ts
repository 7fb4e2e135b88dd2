import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** One import or re-export; `names` is undefined if it takes the whole module. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly names: readonly string[] | undefined;
}

/** A source file by its path from the repository's root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** The sources of the public entries: the files whose types package.json exports. */
export function listEntries(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(exports as Record<string, { readonly types?: string }>).flatMap(
    ({ types }) => types?.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts") ?? [],
  );
}

const STATEMENT = /(?:^|\n)(?:import|export)\s+(?:type\s+)?([^;"']*?)\s*from\s*"(\.[^"]+)"/g;
const WHOLE_MODULE = /\bimport\s*\(\s*"(\.[^"]+)"|(?:^|\n)import\s*"(\.[^"]+)"/g;

/** Reads all TypeScript files of a folder of the repository; those with JSX too if `ending` says so. */
export function readSources(folder: string, ending = /\.ts$/): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map(String)
    .filter((path) => ending.test(path) && !path.includes("node_modules"))
    .map((path) => readSource(join(folder, path)));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const resolve = (specifier: string) => relative(root, join(root, dirname(path), specifier));
  const imports = [...text.matchAll(STATEMENT)].map(([, clause = "", specifier = ""]) => ({
    from: path,
    to: resolve(specifier),
    names: parseNames(clause),
  }));
  const whole = [...text.matchAll(WHOLE_MODULE)].map(([, dynamic, plain]) => ({
    from: path,
    to: resolve(dynamic ?? plain ?? ""),
    names: undefined,
  }));
  return { path, text, imports: [...imports, ...whole] };
}

/** The names in the braces of an import; undefined for a namespace or a default. */
function parseNames(clause: string): readonly string[] | undefined {
  const list = /^\{([\s\S]*)\}$/.exec(clause)?.[1];
  if (list === undefined) return undefined;
  return list
    .split(",")
    .map((name) =>
      name
        .trim()
        .replace(/^type\s+/, "")
        .replace(/\s+as\s+[\s\S]*$/, ""),
    )
    .filter((name) => name !== "");
}

const EXPORTED =
  /(?:^|\n)export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+([\w$]+)/g;

/** The names that a file itself declares and exports. */
export function listExports({ text }: SourceFile): readonly string[] {
  return [...text.matchAll(EXPORTED)].map((match) => match[1] as string);
}
