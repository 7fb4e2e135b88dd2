import {
  type ConfigSyntax,
  ConfigSyntaxError,
  findLineEnd,
  isSamePath,
  type SettingPath,
  type SettingValue,
} from "./config-syntax.ts";
import { decodeTomlString, parseTomlStatements, type TomlStatement } from "./toml-statements.ts";

/** TOML with dotted names, tables and comments. */
export const tomlSyntax: ConfigSyntax = {
  name: "TOML",
  findRaw(text, path) {
    const statements = parseTomlStatements(text);
    const pair = findPair(statements, path);
    if (pair) return text.slice(pair.valueStart, pair.valueEnd);
    return statements.some(({ kind, path: table }) => kind === "table" && isSamePath(table, path))
      ? ""
      : undefined;
  },
  findString(text, path) {
    return decodeTomlString(tomlSyntax.findRaw(text, path) ?? "");
  },
  listNames(text, path) {
    const inside = parseTomlStatements(text).filter(
      (one) => one.path.length > path.length && startsWith(one.path, path),
    );
    return [...new Set(inside.map((one) => one.path[path.length] as string))];
  },
  setRaw(text, path, raw) {
    const statements = parseTomlStatements(text);
    const pair = findPair(statements, path);
    if (pair) return text.slice(0, pair.valueStart) + raw + text.slice(pair.valueEnd);
    const whole = statements.find(({ kind, path: other }) => kind === "pair" && startsWith(path, other));
    if (whole)
      throw new ConfigSyntaxError(text, whole.start, `${whole.path.join(".")} is written on one line`);
    return path.length === 1
      ? insertAbove(text, statements, path, raw)
      : insertInTable(text, statements, path, raw);
  },
  remove(text, path) {
    const statements = parseTomlStatements(text);
    const one =
      findPair(statements, path) ??
      statements.find(({ kind, path: table }) => kind === "table" && isSamePath(table, path));
    if (!one) return text;
    const start = text.lastIndexOf("\n", one.start - 1) + 1;
    const head = text.slice(0, start);
    // The empty line above a table leaves with it.
    return (one.kind === "table" ? head.replace(/(^|\n)[ \t]*\r?\n$/, "$1") : head) + text.slice(one.end);
  },
  encode: encodeToml,
};

function encodeToml(value: SettingValue): string {
  if (typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(encodeToml).join(", ")}]`;
  const pairs = Object.entries(value).map(([name, one]) => `${encodeKey(name)} = ${encodeToml(one)}`);
  return `{ ${pairs.join(", ")} }`;
}

function isList(value: SettingValue): value is readonly SettingValue[] {
  return Array.isArray(value);
}

function encodeKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function startsWith(path: SettingPath, start: SettingPath): boolean {
  return isSamePath(path.slice(0, start.length), start);
}

function findPair(statements: readonly TomlStatement[], path: SettingPath): TomlStatement | undefined {
  return statements.find((one) => one.kind === "pair" && isSamePath(one.path, path));
}

/** Settings without a table must stand above the first table. */
function insertAbove(
  text: string,
  statements: readonly TomlStatement[],
  path: SettingPath,
  raw: string,
): string {
  const lineEnd = findLineEnd(text);
  const firstTable = statements.findIndex(({ kind }) => kind !== "pair");
  const above = firstTable < 0 ? statements : statements.slice(0, firstTable);
  const line = `${path.map(encodeKey).join(".")} = ${raw}${lineEnd}`;
  const last = above.at(-1);
  if (last) return insertLine(text, last.end, line, lineEnd);
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const gap = text.length > start ? lineEnd : "";
  return text.slice(0, start) + line + gap + text.slice(start);
}

function insertInTable(
  text: string,
  statements: readonly TomlStatement[],
  path: SettingPath,
  raw: string,
): string {
  const lineEnd = findLineEnd(text);
  const table = path.slice(0, -1);
  const line = `${encodeKey(path.at(-1) ?? "")} = ${raw}${lineEnd}`;
  const header = statements.findIndex(({ kind, path: name }) => kind === "table" && isSamePath(name, table));
  if (header < 0) {
    const gap = text.trim() === "" ? "" : lineEnd;
    return insertLine(
      text,
      text.length,
      `${gap}[${table.map(encodeKey).join(".")}]${lineEnd}${line}`,
      lineEnd,
    );
  }
  const next = statements.findIndex(({ kind }, index) => index > header && kind !== "pair");
  const last = statements[(next < 0 ? statements.length : next) - 1] as TomlStatement;
  return insertLine(text, last.end, line, lineEnd);
}

/** Inserts whole lines after a line that may lack its line end. */
function insertLine(text: string, at: number, lines: string, lineEnd: string): string {
  const head = text.slice(0, at);
  const isEnded = head === "" || head.endsWith("\n") || head === "\ufeff";
  return head + (isEnded ? "" : lineEnd) + lines + text.slice(at);
}
