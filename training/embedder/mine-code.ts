/**
 * Mines pairs of documentation and declaration from installed packages with a permissive license.
 * node training/embedder/mine-code.ts <node_modules> <output folder> [<folder of Python packages>]
 * Writes code.jsonl for training, code-heldout.jsonl for evaluation (one pair in fifty), code-sources.md.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pair } from "./pairs.ts";

const PERMISSIVE = new Set(["MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);
const MAX_FOR_A_PACKAGE = 12_000;
const MAX_FILE_BYTES = 4_000_000;
const DOCUMENTED = /\/\*\*((?:(?!\*\/)[\s\S]){20,3000})\*\/\s*\n?([^\n]{6,400}(?:\n[^\n]{0,200}){0,3})/g;

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

/** Python packages with a permissive license; none from a repository used by SWE-bench. */
const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  attr: "MIT",
  boto3: "Apache-2.0",
  click: "BSD-3-Clause",
  cryptography: "Apache-2.0 or BSD-3-Clause",
  docker: "Apache-2.0",
  IPython: "BSD-3-Clause",
  jedi: "MIT",
  jinja2: "BSD-3-Clause",
  jsonschema: "MIT",
  moto: "Apache-2.0",
  networkx: "BSD-3-Clause",
  numpy: "BSD-3-Clause",
  pydantic: "MIT",
  pygments: "BSD-2-Clause",
  scipy: "BSD-3-Clause",
  setuptools: "MIT",
  urllib3: "MIT",
  werkzeug: "BSD-3-Clause",
};
const PYTHON_DOCUMENTED =
  /^[ \t]*((?:async def|def|class) [^\n]{3,200}(?:\n[^\n"']{0,160}){0,6}?:)\s*\n\s*[rRuU]?"""((?:(?!""")[\s\S]){20,600})/gm;

const [, , modules, target, python] = process.argv;
if (modules === undefined || target === undefined)
  throw new Error("usage: mine-code.ts <node_modules> <target>");
const seen = new Set<string>();
const kept: Pair[] = [];
const sources: string[] = [];
for (const folder of packageFolders(modules)) {
  const manifest = readManifest(folder);
  if (!manifest?.name || !PERMISSIVE.has(manifest.license ?? "")) continue;
  const pairs = minePackage(folder, `npm:${manifest.name}`);
  if (pairs.length === 0) continue;
  kept.push(...pairs);
  sources.push(
    `| npm:${manifest.name} | ${manifest.version} | ${manifest.license} | doc-code/en ${pairs.length} |`,
  );
}
for (const [name, licence] of python === undefined ? [] : Object.entries(PYTHON_PACKAGES)) {
  const pairs = minePythonPackage(join(python as string, name), `pypi:${name}`);
  kept.push(...pairs);
  sources.push(`| pypi:${name} | | ${licence} | doc-code/en ${pairs.length} |`);
}
const isHeldOut = (pair: Pair) => checksum(pair.a) % 50 === 0;
write(
  "code.jsonl",
  kept.filter((pair) => !isHeldOut(pair)),
);
write("code-heldout.jsonl", kept.filter(isHeldOut));
writeFileSync(join(target, "code-sources.md"), `${sources.sort().join("\n")}\n`);
console.log(`${kept.length} pairs from ${sources.length} packages`);

function write(name: string, pairs: readonly Pair[]): void {
  writeFileSync(join(target as string, name), pairs.map((pair) => `${JSON.stringify(pair)}\n`).join(""));
}

function packageFolders(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap((entry) =>
      entry.name.startsWith("@")
        ? readdirSync(join(root, entry.name)).map((name) => join(root, entry.name, name))
        : [join(root, entry.name)],
    )
    .sort();
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

function minePackage(folder: string, source: string): Pair[] {
  const pairs: Pair[] = [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(d\.[cm]?ts|ts|js|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.slice(folder.length).includes("node_modules") && !/\.min\./.test(path))
    .sort();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    if (text.length > MAX_FILE_BYTES) continue;
    for (const match of text.matchAll(DOCUMENTED)) {
      const pair = toPair(match[1] ?? "", match[2] ?? "", source);
      if (pair === undefined || pairs.length >= MAX_FOR_A_PACKAGE) continue;
      pairs.push(pair);
    }
  }
  return pairs;
}

function minePythonPackage(folder: string, source: string): Pair[] {
  const pairs: Pair[] = [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/_vendor|vendored|[/]tests?[/]/.test(path.slice(folder.length)))
    .sort();
  for (const file of files) {
    for (const match of readFileSync(file, "utf8").matchAll(PYTHON_DOCUMENTED)) {
      const summary = (match[2] ?? "").split(/\n\s*\n/)[0] ?? "";
      const pair = toPair(summary.replace(/[`*]/g, ""), match[1] ?? "", source);
      if (pair !== undefined && pairs.length < MAX_FOR_A_PACKAGE) pairs.push(pair);
    }
  }
  return pairs;
}

function toPair(comment: string, code: string, source: string): Pair | undefined {
  const a = wordsOf(comment);
  const b = declarationOf(code);
  if (a.length < 24 || b.length < 6 || a.split(" ").length < 4 || !/[a-z]{3}/i.test(b)) return undefined;
  if (/copyright|licen[sc]e|eslint|@fileoverview|MDN Reference/i.test(comment)) return undefined;
  const key = `${a}\n${b}`;
  if (seen.has(key) || seen.has(a)) return undefined;
  seen.add(key).add(a);
  return { a, b, kind: "doc-code", lang: "en", source };
}

/** A comment's text before its tags, on one line. */
function wordsOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, ""));
  const tag = lines.findIndex((line) => /^@|^```/.test(line.trim()));
  return (tag < 0 ? lines : lines.slice(0, tag))
    .join(" ")
    .replace(/\{@\w+ ([^}|]*)[^}]*\}/g, "$1")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 320);
}

/** The declaration after a comment, up to its body. */
function declarationOf(code: string): string {
  if (/^\s*(\/\*|\/\/|\*|\}|import )/.test(code)) return "";
  const end = code.search(/;|\{\s*\n|\n\s*(\/\*|\/\/)|\n\s*\n/);
  return (end < 0 ? code : code.slice(0, end)).replace(/\s+/g, " ").trim().slice(0, 480);
}

function checksum(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash;
}
