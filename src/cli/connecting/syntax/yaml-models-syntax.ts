import { type ConfigSyntax, ConfigSyntaxError, findLineEnd, type SettingPath } from "./config-syntax.ts";

/** A `name: value` line of a model. */
interface YamlPair {
  readonly name: string;
  readonly raw: string;
  readonly line: number;
}

/** One item of the list `models`. */
interface YamlModel {
  readonly pairs: readonly YamlPair[];
  /** Index of the last line, before blank lines and comments. */
  readonly lastLine: number;
  /** Column of the names. */
  readonly column: number;
}

/**
 * The list `models` of a YAML file, as Continue has it: one block per model. A path is `models`, the name of the model,
 * and a setting. Other forms of YAML are refused.
 */
export const yamlModelsSyntax: ConfigSyntax = {
  name: "YAML",
  findRaw(text, path) {
    return findYamlPair(text, path)?.raw;
  },
  findString(text, path) {
    const raw = findYamlPair(text, path)?.raw;
    return raw === undefined ? undefined : decodeYaml(raw);
  },
  listNames: (text, path) => (path.length === 1 && path[0] === "models" ? [...readModels(text).keys()] : []),
  setRaw(text, path, raw) {
    const lines = text.split("\n");
    const pair = findYamlPair(text, path);
    if (pair) {
      const line = lines[pair.line] as string;
      const from = line.lastIndexOf(pair.raw);
      lines[pair.line] = line.slice(0, from) + raw + line.slice(from + pair.raw.length);
      return lines.join("\n");
    }
    const model = readModels(text).get(path[1] ?? "");
    if (!model || path.length !== 3 || path[0] !== "models")
      throw new ConfigSyntaxError(text, 0, `there is no model ${JSON.stringify(path[1])}`);
    const isLast = model.lastLine === lines.length - 1;
    const ending = findLineEnd(text) === "\r\n" ? "\r" : "";
    if (isLast) lines[model.lastLine] += ending;
    lines.splice(
      model.lastLine + 1,
      0,
      `${" ".repeat(model.column)}${path[2]}: ${raw}${isLast ? "" : ending}`,
    );
    return lines.join("\n");
  },
  remove(text, path) {
    const pair = findYamlPair(text, path);
    if (!pair) return text;
    const lines = text.split("\n");
    if (/^\s*- /.test(lines[pair.line] as string))
      throw new ConfigSyntaxError(text, 0, `${path.join(".")} is the first setting of its model`);
    return lines.toSpliced(pair.line, 1).join("\n");
  },
  encode: (value) => String(value),
};

function findYamlPair(text: string, [list, model = "", name]: SettingPath): YamlPair | undefined {
  return list === "models"
    ? readModels(text)
        .get(model)
        ?.pairs.find((pair) => pair.name === name)
    : undefined;
}

function decodeYaml(raw: string): string {
  return /^"[^"\\]*"$|^'[^']*'$/.test(raw) ? raw.slice(1, -1) : raw;
}

/** The models by name; throws ConfigSyntaxError if the list is written in another form. */
function readModels(text: string): ReadonlyMap<string, YamlModel> {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const fail = (line: number, problem: string): never => {
    throw new ConfigSyntaxError(
      lines.join("\n"),
      lines.slice(0, line).join("\n").length + (line > 0 ? 1 : 0),
      problem,
    );
  };
  if (lines.length === 1 && /^[[{]/.test(text.trim())) fail(0, "expected one setting per line");
  const tab = lines.findIndex((line) => /^ *\t/.test(line));
  if (tab >= 0) fail(tab, "YAML is not indented with tabs");
  const odd = lines.findIndex(
    (line) => /^\S/.test(line) && !/^(?:#|---|\.\.\.|%|- |-$|[\w"'-][^:]*:(?:\s|$)|\})/.test(line),
  );
  if (odd >= 0) fail(odd, 'expected "name: value"');
  const head = lines.findIndex((line) => /^models:/.test(line));
  const models = new Map<string, YamlModel>();
  if (head < 0) return models;
  if (!/^models:\s*(?:#.*)?$/.test(lines[head] as string)) fail(head, "models is written on one line");
  const isBlank = (line: string) => /^\s*(?:#.*)?$/.test(line);
  const after = lines.findIndex((line, index) => index > head && /^[^\s#-]/.test(line));
  const end = after < 0 ? lines.length : after;
  const starts: number[] = [];
  let dash: number | undefined;
  for (let index = head + 1; index < end; index++) {
    const line = lines[index] as string;
    if (isBlank(line)) continue;
    dash ??= /^( *)- /.exec(line)?.[1]?.length ?? fail(index, 'expected a model that begins with "- "');
    const indent = line.length - line.trimStart().length;
    if (indent < dash) fail(index, "a model is indented less than the others");
    if (indent === dash && /^ *-(?: |$)/.test(line)) starts.push(index);
    else if (indent === dash) fail(index, 'expected "- "');
  }
  for (const [at, start] of starts.entries()) {
    const stop = starts[at + 1] ?? end;
    const column = /^ *- +/.exec(lines[start] as string)?.[0].length ?? fail(start, "a model is empty");
    const pairs: YamlPair[] = [];
    let lastLine = start;
    for (let index = start; index < stop; index++) {
      const line = lines[index] as string;
      if (isBlank(line)) continue;
      lastLine = index;
      const own =
        index === start ? line.slice(column) : /^ */.exec(line)?.[0].length === column ? line.trim() : "";
      const match = /^([\w-]+):(?: +(.*?))?(?: +#.*)?$/.exec(own);
      if (match) pairs.push({ name: match[1] as string, raw: match[2] ?? "", line: index });
      else if (own !== "") fail(index, 'expected "name: value" in a model');
    }
    const name = decodeYaml(pairs.find((pair) => pair.name === "name")?.raw ?? "");
    if (name === "") continue;
    if (models.has(name)) fail(start, `two models are named ${JSON.stringify(name)}`);
    models.set(name, { pairs, lastLine, column });
  }
  return models;
}
