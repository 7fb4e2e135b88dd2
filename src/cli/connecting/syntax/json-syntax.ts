import {
  type ConfigSyntax,
  ConfigSyntaxError,
  findIndent,
  findLineEnd,
  type SettingPath,
} from "./config-syntax.ts";

/** A value in a JSON text, by its place. */
interface JsonNode {
  readonly kind: "object" | "array" | "scalar";
  readonly start: number;
  readonly end: number;
  /** Members of an object; empty for other values. */
  readonly members: readonly JsonMember[];
}

/** A member of an object. */
interface JsonMember {
  readonly name: string;
  readonly start: number;
  readonly value: JsonNode;
  /** Position of the comma after the value; undefined if there is none. */
  readonly comma: number | undefined;
}

const SCALAR = /[-+.\w]+/y;
const NAME = /[\p{L}$_][\p{L}\p{N}$_]*/uy;
const MAX_DEPTH = 200;

/** JSON, with the comments, trailing commas and unquoted names that agents accept. */
export const jsonSyntax: ConfigSyntax = {
  name: "JSON",
  findRaw(text, path) {
    const value = isBlank(text) ? undefined : findNode(parseJsonNodes(text), path);
    return value && text.slice(value.start, value.end);
  },
  findString(text, path) {
    return decodeJsonString(jsonSyntax.findRaw(text, path) ?? "");
  },
  listNames(text, path) {
    const value = isBlank(text) ? undefined : findNode(parseJsonNodes(text), path);
    return value?.members.map(({ name }) => name) ?? [];
  },
  setRaw(text, path, raw) {
    // A byte order mark may stand before nothing.
    if (isBlank(text)) return `${text.trimEnd()}${setMember(`{}${findLineEnd(text)}`, path, raw)}`;
    return setMember(text, path, raw);
  },
  remove(text, path) {
    const root = parseJsonNodes(text);
    const parent = findNode(root, path.slice(0, -1));
    const index = parent?.members.findLastIndex(({ name }) => name === path.at(-1)) ?? -1;
    return parent && index >= 0 ? removeMember(text, parent.members, index) : text;
  },
  encode: (value) => JSON.stringify(value),
};

function isBlank(text: string): boolean {
  return text.trim() === "" || text === "\ufeff";
}

/** Duplicate names: the last one counts, as in JSON.parse. */
function findMember({ members }: JsonNode, name: string | undefined): JsonMember | undefined {
  return members.findLast((member) => member.name === name);
}

function findNode(root: JsonNode, path: SettingPath): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const name of path) node = node && findMember(node, name)?.value;
  return node;
}

function setMember(text: string, path: SettingPath, raw: string): string {
  let node = parseJsonNodes(text);
  for (const [index, name] of path.entries()) {
    if (node.kind !== "object") {
      const where = index === 0 ? "the file" : JSON.stringify(path.slice(0, index).join("."));
      throw new ConfigSyntaxError(text, node.start, `${where} is not an object`);
    }
    const member = findMember(node, name);
    if (!member) return insertMember(text, node, path.slice(index), raw);
    node = member.value;
  }
  return text.slice(0, node.start) + raw + text.slice(node.end);
}

function insertMember(text: string, parent: JsonNode, path: SettingPath, raw: string): string {
  const { start, end, members } = parent;
  const last = members.at(-1);
  const lineEnd = findLineEnd(text);
  const outer = findIndent(text, start);
  if (!last) {
    const unit = findUnit(text);
    const inner = text.slice(start + 1, end - 1);
    const member = lineEnd + outer + unit + writeMember(path, raw, { indent: outer + unit, unit, lineEnd });
    // Comments in an empty object stay below the new member.
    const rest = inner.trim() === "" ? lineEnd + outer : inner;
    return text.slice(0, start + 1) + member + rest + text.slice(end - 1);
  }
  const isOneLine = !text.slice(start, last.start).includes("\n");
  if (isOneLine) {
    const member = writeMember(path, raw, undefined);
    const gap = /[:,] /.test(text.slice(start, end)) ? " " : "";
    if (last.comma === undefined) return insertAt(text, [[last.value.end, `,${gap}${member}`]]);
    return insertAt(text, [[last.comma + 1, `${gap}${member},`]]);
  }
  const indent = findIndent(text, last.start);
  const unit = indent.startsWith(outer) && indent !== outer ? indent.slice(outer.length) : findUnit(text);
  const member = lineEnd + indent + writeMember(path, raw, { indent, unit, lineEnd });
  const from = (last.comma ?? last.value.end - 1) + 1;
  // A comment on the line of the last member stays there.
  const place =
    from + (/^[ \t]*(?:\/\/.*?(?=\r?$)|\/\*.*?\*\/[ \t]*(?=\r?$))/m.exec(text.slice(from))?.[0].length ?? 0);
  if (last.comma !== undefined) return insertAt(text, [[place, `${member},`]]);
  return insertAt(text, [
    [last.value.end, ","],
    [place, member],
  ]);
}

interface Layout {
  readonly indent: string;
  readonly unit: string;
  readonly lineEnd: string;
}

/** Writes nested objects around a value: on several lines, or on one without a layout. */
function writeMember([name = "", ...rest]: SettingPath, raw: string, layout: Layout | undefined): string {
  const key = `${JSON.stringify(name)}: `;
  if (rest.length === 0) return key + raw;
  if (!layout) return `${key}{ ${writeMember(rest, raw, layout)} }`;
  const inner = { ...layout, indent: layout.indent + layout.unit };
  return `${key}{${layout.lineEnd}${inner.indent}${writeMember(rest, raw, inner)}${layout.lineEnd}${layout.indent}}`;
}

/** The indentation of the first indented line. */
function findUnit(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

/** Inserts texts at positions of the original text, in ascending order. */
function insertAt(text: string, insertions: readonly (readonly [number, string])[]): string {
  let from = 0;
  let result = "";
  for (const [at, inserted] of insertions) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}

function removeMember(text: string, members: readonly JsonMember[], index: number): string {
  const { start, value, comma } = members[index] as JsonMember;
  const before = members[index - 1]?.comma;
  const isLast = index === members.length - 1;
  const end = comma === undefined ? value.end : comma + 1;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineFeed = text.indexOf("\n", end);
  const isOwnLine =
    lineFeed >= 0 && text.slice(lineStart, start).trim() === "" && text.slice(end, lineFeed).trim() === "";
  const [from, to] = isOwnLine ? [lineStart, lineFeed + 1] : [start, end];
  const isCommaLeft = isLast && comma === undefined && before !== undefined;
  const head = isCommaLeft
    ? text.slice(0, before) + text.slice((before as number) + 1, from)
    : text.slice(0, from);
  const tail = text.slice(to);
  return isOwnLine
    ? head + tail
    : head.trimEnd() === head
      ? head + tail.trimStart()
      : head + tail.replace(/^ /, "");
}

/**
 * Parses JSON with comments, trailing commas, single quotes and unquoted names (JSONC and JSON5), keeping positions.
 * Throws ConfigSyntaxError at the first damage.
 */
function parseJsonNodes(text: string): JsonNode {
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
function decodeJsonString(raw: string): string | undefined {
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
