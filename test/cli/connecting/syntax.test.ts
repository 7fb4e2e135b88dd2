import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonSyntax } from "../../../src/cli/connecting/syntax/json-syntax.ts";
import { tomlSyntax } from "../../../src/cli/connecting/syntax/toml-syntax.ts";
import { yamlModelsSyntax } from "../../../src/cli/connecting/syntax/yaml-models-syntax.ts";

const URL_PATH = ["env", "URL"];

describe("JSON", () => {
  test.each([
    ["", '{\n  "env": {\n    "URL": "x"\n  }\n}\n'],
    ["{}", '{\n  "env": {\n    "URL": "x"\n  }\n}'],
    ['{"a":1}', '{"a":1,"env": { "URL": "x" }}'],
    ['{ "a": 1 }\n', '{ "a": 1, "env": { "URL": "x" } }\n'],
    ['{\n\t"a": [1, 2]\n}\n', '{\n\t"a": [1, 2],\n\t"env": {\n\t\t"URL": "x"\n\t}\n}\n'],
    ['{\n  "env": {}\n}', '{\n  "env": {\n    "URL": "x"\n  }\n}'],
    [
      '{\n  // mine\n  "env": {\n    "A": "1" // one\n  }\n}',
      '{\n  // mine\n  "env": {\n    "A": "1", // one\n    "URL": "x"\n  }\n}',
    ],
    ['{\n  "env": {\n    "A": "1",\n  },\n}', '{\n  "env": {\n    "A": "1",\n    "URL": "x",\n  },\n}'],
    ["{\n  env: { 'URL': 'y' }\n}", "{\n  env: { 'URL': \"x\" }\n}"],
    ['{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "env": {\r\n    "URL": "x"\r\n  }\r\n}\r\n'],
    ['\ufeff{"env":{"URL":null}}', '\ufeff{"env":{"URL":"x"}}'],
  ])("JSON sets a value in %j and keeps everything else", (text, expected) => {
    const changed = jsonSyntax.setRaw(text, URL_PATH, '"x"');
    expect(changed).toBe(expected);
    expect(jsonSyntax.findString(changed, URL_PATH)).toBe("x");
  });

  test.each([
    ['{\n  "a": 1,\n  "b": 2\n}', ["b"], '{\n  "a": 1\n}'],
    ['{\n  "a": 1,\n  "b": 2\n}', ["a"], '{\n  "b": 2\n}'],
    ['{"a":1,"b":2}', ["b"], '{"a":1}'],
    ['{ "a": 1, "b": 2 }', ["a"], '{ "b": 2 }'],
    ['{\n  "a": 1, // one\n  "b": 2\n}', ["b"], '{\n  "a": 1 // one\n}'],
    ['{"a":1}', ["c"], '{"a":1}'],
  ])("JSON removes from %j the value at %j", (text, path, expected) => {
    expect(jsonSyntax.remove(text, path)).toBe(expected);
  });

  test.each([
    ['{"a": 1', "line 1"],
    ['{\n"a": 1\n"b": 2}', 'line 3: expected "," or "}"'],
    ['{"a": "x}', "a string does not end"],
    ["{} x", "text follows"],
    ["/* {}", "a comment does not end"],
    ['{"env": "text"}', '"env" is not an object'],
    ["[]", "the file is not an object"],
  ])("JSON refuses %j", (text, message) => {
    expect(() => jsonSyntax.setRaw(text, URL_PATH, '"x"')).toThrow(message);
  });

  test("an edit of any JSON object changes one value, and the removal of the value undoes the edit", () => {
    const layouts = fc.constantFrom(undefined, 2, 4, "\t");
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        layouts,
        fc.string(),
        (object, indent, value) => {
          const { longhaul: _, ...rest } = object;
          const text = JSON.stringify(rest, undefined, indent);
          const changed = jsonSyntax.setRaw(text, ["longhaul", "url"], JSON.stringify(value));
          expect(JSON.parse(changed)).toEqual(
            JSON.parse(JSON.stringify({ ...rest, longhaul: { url: value } })),
          );
          const restored = jsonSyntax.remove(jsonSyntax.remove(changed, ["longhaul", "url"]), ["longhaul"]);
          expect(JSON.parse(restored)).toEqual(JSON.parse(text));
        },
      ),
    );
  });
});

describe("TOML", () => {
  test.each([
    ["", 'url = "x"\n'],
    ['model = "m"', 'model = "m"\nurl = "x"\n'],
    [
      '# mine\nmodel = "m" # best\n\n[tui]\nurl = "no"\n',
      '# mine\nmodel = "m" # best\nurl = "x"\n\n[tui]\nurl = "no"\n',
    ],
    ["[tui]\na = 1\n", 'url = "x"\n\n[tui]\na = 1\n'],
    ['url = "y" # old\n', 'url = "x" # old\n'],
    [
      'text = """\n[not.a.table]\n"""\nlist = [\n  1, # one\n]\n[[t]]\n',
      'text = """\n[not.a.table]\n"""\nlist = [\n  1, # one\n]\nurl = "x"\n[[t]]\n',
    ],
    ["a = 1\r\n[t]\r\n", 'a = 1\r\nurl = "x"\r\n[t]\r\n'],
  ])("TOML sets a top-level value before the tables of %j", (text, expected) => {
    const changed = tomlSyntax.setRaw(text, ["url"], '"x"');
    expect(changed).toBe(expected);
    expect(tomlSyntax.findString(changed, ["url"])).toBe("x");
  });

  test("TOML sets and removes values of a table, and can remove the empty table", () => {
    const text = '# mine\n[a]\nb = 1\n\n[a.c]\nd = { e = "f" }\n';
    const one = tomlSyntax.setRaw(text, ["p", "q", "url"], '"x"');
    const two = tomlSyntax.setRaw(one, ["p", "q", "on"], "true");
    expect(two).toBe(`${text}\n[p.q]\nurl = "x"\non = true\n`);
    expect(tomlSyntax.listNames(two, ["p", "q"])).toEqual(["url", "on"]);
    const empty = tomlSyntax.remove(tomlSyntax.remove(two, ["p", "q", "url"]), ["p", "q", "on"]);
    expect(tomlSyntax.remove(empty, ["p", "q"])).toBe(text);
    expect(tomlSyntax.setRaw(text, ["a", "x"], "2")).toBe(text.replace("b = 1\n", "b = 1\nx = 2\n"));
  });

  test.each([
    ['a = "x', "a string does not end"],
    ["a = \n", "expected a value"],
    ["[a\n", 'expected "]"'],
    ["a = 1 b = 2", "text follows"],
    ["just words", 'expected "="'],
    ["url = { a = 1", "line 1"],
  ])("TOML refuses %j", (text, message) => {
    expect(() => tomlSyntax.setRaw(text, ["url"], '"x"')).toThrow(message);
  });

  test("TOML refuses to write into a table on one line", () => {
    expect(() => tomlSyntax.setRaw("p = { a = 1 }\n", ["p", "url"], '"x"')).toThrow(
      "p is written on one line",
    );
  });
});

describe("the models of a YAML file", () => {
  const text = [
    "name: mine # my own",
    "models:",
    "  - name: Sonnet",
    "    provider: anthropic",
    "    roles:",
    "      - chat",
    "  # the other",
    "  - provider: openai",
    '    name: "GPT"',
    "    apiBase: y # old",
    "",
    "rules:",
    "  - Be brief",
    "",
  ].join("\n");

  test("the models of a YAML file get a new last setting, or a new value of a setting", () => {
    expect(yamlModelsSyntax.listNames(text, ["models"])).toEqual(["Sonnet", "GPT"]);
    const one = yamlModelsSyntax.setRaw(text, ["models", "Sonnet", "apiBase"], "x");
    expect(one).toBe(text.replace("      - chat\n", "      - chat\n    apiBase: x\n"));
    const two = yamlModelsSyntax.setRaw(one, ["models", "GPT", "apiBase"], "x");
    expect(two).toBe(one.replace("apiBase: y # old", "apiBase: x # old"));
    expect(yamlModelsSyntax.remove(two, ["models", "Sonnet", "apiBase"])).toBe(
      text.replace("y # old", "x # old"),
    );
  });

  test("the models of a YAML file can be edited without a final line end, and with Windows line ends", () => {
    const path = ["models", "a", "apiBase"];
    expect(yamlModelsSyntax.setRaw("models:\n- name: a", path, "x")).toBe("models:\n- name: a\n  apiBase: x");
    expect(yamlModelsSyntax.setRaw("models:\r\n- name: a\r\n", path, "x")).toBe(
      "models:\r\n- name: a\r\n  apiBase: x\r\n",
    );
  });

  test.each([
    ["models: [{ name: a }]", "models is written on one line"],
    ["models:\n  - name: a\n  - name: a\n", "two models are named"],
    ["models:\n\t- name: a\n", "tabs"],
    ["just text", 'expected "name: value"'],
  ])("the models of a YAML file refuse %j", (wrong, message) => {
    expect(() => yamlModelsSyntax.listNames(wrong, ["models"])).toThrow(message);
  });
});
