import { ConfigSyntaxError } from "./config-syntax.ts";

/** A value in a JSON text, by its place. */
export interface JsonNode {
  readonly kind: "object" | "array" | "scalar";
  readonly start: number;
  readonly end: number;
  /** Members of an object; empty for other values. */
  readonly members: readonly JsonMember[];
}

/** A member of an object. */
export interface JsonMember {
  readonly name: string;
  readonly start: number;
  readonly value: JsonNode;
  /** Position of the comma after the value; undefined if there is none. */
  readonly comma: number | undefined;
}

const SCALAR = /[-+.\w]+/y;
const NAME = /[\p{L}$_][\p{L}\p{N}$_]*/uy;
const MAX_DEPTH = 200;

/**
 * Parses JSON with comments, trailing commas, single quotes and unquoted names (JSONC and JSON5), keeping positions.
 * Throws ConfigSyntaxError at the first damage.
 */
export function parseJsonNodes(text: string): JsonNode {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  const fail = (problem: string, place = at): never => {
    throw new ConfigSyntaxError(text, place, problem);
  };
  const skip = () => {
    for (;;) {
      while (at < text.length && /\s/.test(text[at] as string)) at++;
      if (text.startsWith("//", at)) {
        const end = text.indexOf("\n", at);
        at = end < 0 ? text.length : end;
      } else if (text.startsWith("/*", at)) {
        const end = text.indexOf("*/", at + 2);
        if (end < 0) fail("a comment does not end");
        at = end + 2;
      } else return;
    }
  };
  const take = (pattern: RegExp, problem: string): string => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [fail(problem)];
    at += found.length;
    return found;
  };
  const readString = (): string => {
    const start = at;
    const quote = text[at++];
    for (; text[at] !== quote; at++) {
      if (at >= text.length || text[at] === "\n") fail("a string does not end", start);
      if (text[at] === "\\") at++;
    }
    at++;
    return decodeJsonString(text.slice(start, at)) ?? fail("a string has a wrong escape", start);
  };
  const readObject = (depth: number): JsonNode => {
    const start = at++;
    const members: JsonMember[] = [];
    for (skip(); text[at] !== "}"; skip()) {
      const place = at;
      const name = isQuote(text[at]) ? readString() : take(NAME, "expected a name in quotes");
      skip();
      if (text[at] !== ":") fail(`expected ":" after ${JSON.stringify(name)}`);
      at++;
      const value = readValue(depth + 1);
      skip();
      const comma = text[at] === "," ? at++ : undefined;
      members.push({ name, start: place, value, comma });
      skip();
      if (comma === undefined && text[at] !== "}") fail('expected "," or "}"');
    }
    return { kind: "object", start, end: ++at, members };
  };
  const readArray = (depth: number): JsonNode => {
    const start = at++;
    for (skip(); text[at] !== "]"; skip()) {
      readValue(depth + 1);
      skip();
      if (text[at] === ",") at++;
      else if (text[at] !== "]") fail('expected "," or "]"');
    }
    return { kind: "array", start, end: ++at, members: [] };
  };
  const readValue = (depth: number): JsonNode => {
    skip();
    const start = at;
    if (depth > MAX_DEPTH) fail("values are nested too deeply");
    if (text[at] === "{") return readObject(depth);
    if (text[at] === "[") return readArray(depth);
    if (isQuote(text[at])) readString();
    else take(SCALAR, at >= text.length ? "the file ends too early" : "expected a value");
    return { kind: "scalar", start, end: at, members: [] };
  };
  const root = readValue(0);
  skip();
  if (at < text.length) fail("text follows after the end of the value");
  return root;
}

/** The value of a quoted string; undefined if it is not one. */
export function decodeJsonString(raw: string): string | undefined {
  const double = raw.startsWith("'")
    ? `"${raw.slice(1, -1).replaceAll(/\\'|"/g, (found) => (found === '"' ? '\\"' : "'"))}"`
    : raw;
  try {
    const value: unknown = JSON.parse(double);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}
