import { ConfigSyntaxError, type SettingPath } from "./config-syntax.ts";

/** A table header or a setting of a TOML text, by its place. */
export interface TomlStatement {
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

/** Parses the statements of a TOML text; throws ConfigSyntaxError at the first damage. */
export function parseTomlStatements(text: string): readonly TomlStatement[] {
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
export function decodeTomlString(raw: string): string | undefined {
  if (/^'[^']*'$/.test(raw)) return raw.slice(1, -1);
  try {
    const value: unknown = raw.startsWith('"') ? JSON.parse(raw) : undefined;
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
