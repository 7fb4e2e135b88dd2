import {
  type ConfigSyntax,
  ConfigSyntaxError,
  findIndent,
  findLineEnd,
  type SettingPath,
} from "./config-syntax.ts";
import { decodeJsonString, type JsonMember, type JsonNode, parseJsonNodes } from "./json-nodes.ts";

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
