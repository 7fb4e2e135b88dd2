import {
  type ConfigSyntax,
  ConfigSyntaxError,
  findLineEnd,
  isSamePath,
  type SettingPath,
  type SettingValue,
} from "./config-syntax.ts";

/** A table header or a setting of a TOML text, by its place. */
interface TomlStatement {
  readonly kind: "table" | "array-table" | "pair";
  /** Full path: a pair includes the names of its table. */
  readonly path: SettingPath;
  /** First character of the statement, and the position after its line end. */
  readonly start: number;
  readonly end: number;
  /** Range of the value; empty for headers. */
  readonly valueStart: number;
  readonly valueEnd: number;
}

const BARE = /[\w-]+/y;
const PLAIN = /[^\s,#\]}]+(?: \d{2}:[^\s,#\]}]+)?/y;

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

/** Parses the statements of a TOML text; throws ConfigSyntaxError at the first damage. */
function parseTomlStatements(text: string): readonly TomlStatement[] {
  const statements: TomlStatement[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  const fail = (problem: string, place = at): never => {
    throw new ConfigSyntaxError(text, place, problem);
  };
  const skipBlanks = () => {
    while (text[at] === " " || text[at] === "\t") at++;
  };
  const skipComment = () => {
    if (text[at] !== "#") return;
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end;
  };
  /** Skips blanks, comments and line ends inside an array. */
  const skipLines = () => {
    for (;;) {
      while (at < text.length && /\s/.test(text[at] as string)) at++;
      if (text[at] !== "#") return;
      skipComment();
    }
  };
  const endLine = () => {
    skipBlanks();
    skipComment();
    if (text[at] === "\r") at++;
    if (at < text.length && text[at] !== "\n") fail("text follows after the value");
    at = Math.min(text.length, at + 1);
  };
  const readString = (): string => {
    const start = at;
    const quote = text[at] as string;
    const mark = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
    at += mark.length;
    while (!text.startsWith(mark, at)) {
      if (at >= text.length || (mark.length === 1 && text[at] === "\n")) fail("a string does not end", start);
      at += quote === '"' && text[at] === "\\" ? 2 : 1;
    }
    at += mark.length;
    // Up to two quotes may stand before the closing three.
    for (let extra = 0; mark.length === 3 && extra < 2 && text[at] === quote; extra++) at++;
    return text.slice(start, at);
  };
  const readKeys = (): string[] => {
    const keys: string[] = [];
    for (;;) {
      skipBlanks();
      if (text[at] === '"' || text[at] === "'") keys.push(decodeTomlString(readString()) ?? "");
      else {
        BARE.lastIndex = at;
        const [bare] = BARE.exec(text) ?? [fail("expected a name")];
        at += bare.length;
        keys.push(bare);
      }
      skipBlanks();
      if (text[at] !== ".") return keys;
      at++;
    }
  };
  const readList = (close: string) => {
    at++;
    for (skipLines(); text[at] !== close; skipLines()) {
      if (at >= text.length) fail(`expected "${close}"`);
      if (close === "}") {
        readKeys();
        if (text[at] !== "=") fail('expected "="');
        at++;
      }
      readValue();
      skipLines();
      if (text[at] === ",") at++;
      else if (text[at] !== close) fail(`expected "," or "${close}"`);
    }
    at++;
  };
  const readValue = () => {
    skipLines();
    if (text[at] === '"' || text[at] === "'") readString();
    else if (text[at] === "[") readList("]");
    else if (text[at] === "{") readList("}");
    else {
      PLAIN.lastIndex = at;
      const [plain] = PLAIN.exec(text) ?? [fail("expected a value")];
      at += plain.length;
    }
  };
  let table: SettingPath = [];
  while (at < text.length) {
    skipBlanks();
    const start = at;
    if (text[at] === "#" || text[at] === "\r" || text[at] === "\n") endLine();
    else if (at >= text.length) break;
    else if (text[at] === "[") {
      const isArray = text[at + 1] === "[";
      at += isArray ? 2 : 1;
      table = readKeys();
      if (!text.startsWith(isArray ? "]]" : "]", at)) fail('expected "]"');
      at += isArray ? 2 : 1;
      endLine();
      const kind = isArray ? "array-table" : "table";
      statements.push({ kind, path: table, start, end: at, valueStart: at, valueEnd: at });
    } else {
      const keys = readKeys();
      if (text[at] !== "=") fail('expected "="');
      at++;
      skipBlanks();
      if (text[at] === "\n" || text[at] === "\r") fail("expected a value");
      const valueStart = at;
      readValue();
      const valueEnd = at;
      endLine();
      statements.push({ kind: "pair", path: [...table, ...keys], start, end: at, valueStart, valueEnd });
    }
  }
  return statements;
}

/** The value of a string on one line; undefined if it is not one. */
function decodeTomlString(raw: string): string | undefined {
  if (/^'[^']*'$/.test(raw)) return raw.slice(1, -1);
  try {
    const value: unknown = raw.startsWith('"') ? JSON.parse(raw) : undefined;
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
