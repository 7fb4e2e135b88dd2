import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofCases, sizedTest } from "../support/proof.ts";
import { runHere } from "./support/here.ts";
import { findShapes, type Shape } from "./support/json-shape.ts";
import { MODEL } from "./support/long-session.ts";

const docs = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

/** Commands with their section in docs/cli.md and the number of the shape there. */
const CASES: readonly (readonly [args: readonly string[], section: string, shape: number])[] = [
  [["sessions"], "sessions", 0],
  [["show", "talk"], "show", 0],
  [["gc"], "gc", 0],
  [["retention", "--older-than", "30d"], "retention", 0],
  [["config", "get", "port"], "config", 0],
  [["config", "path"], "config", 3],
  [["backup", "<folder>"], "backup", 0],
  [["status", "--url", "http://127.0.0.1:9"], "status", 0],
  [["top", "--once", "--url", "http://127.0.0.1:9"], "top", 0],
  [["pin", "talk", "1"], "pin", 0],
  [["recall", "harbor"], "recall", 0],
  [["check"], "check", 0],
  [["doctor"], "doctor", 0],
  [["config", "get"], "config", 1],
  [["config", "set", "threshold", "60"], "config", 2],
  [["completion", "bash"], "completion", 0],
  [["export", "talk", "--to", "markdown", "--out", "<folder>"], "export", 0],
];

let store: string;

beforeAll(async () => {
  const { mkdtempSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  store = mkdtempSync(join(tmpdir(), "longhaul-shapes-"));
  let now = Date.now();
  await using kernel = await openKernel({ path: store, embedder: null, clock: { now: () => now } });
  const talk = await kernel.session("talk", { title: "A talk", meta: { agent: "codex" } });
  await talk.append({ role: "user", text: "The harbor has seven cranes." });
  const window = talk.window({ model: MODEL });
  await window.fit();
  await window.report({ inputTokens: 1_000, outputTokens: 10 });
  now -= 90 * 86_400_000;
  await (await kernel.session("old")).append({ role: "user", text: "Long ago." });
  return async () => (await import("node:fs")).rmSync(store, { recursive: true });
});

describe("the JSON of a command has the fields of docs/cli.md", () => {
  sizedTest.each(proofCases(CASES, 7))(
    "the JSON of a command has exactly its documented fields: %j",
    async (args, section, index) => {
      const shape = findShapes(docs, section)[index];
      expect(shape, `shape ${index} of ${section}`).toBeDefined();
      const named = args.map((word) => (word === "<folder>" ? join(testFolder(), "new") : word));
      const { stdout, stderr } = await runHere([...named, "--json", "--store", store]);
      expect(findDifferences(JSON.parse(stdout), shape as Shape, "$"), stderr).toEqual([]);
    },
  );

  test("a documented field that is missing and an undocumented field both count as differences", () => {
    const [shape] = findShapes('## x\n\n`{"a","b":{"c"},"d"?,"e":[{"f"}]}`\n', "x");
    const found = findDifferences({ a: 1, b: { c: 1, z: 1 }, e: [{ f: 1 }, {}] }, shape as Shape, "$");
    expect(found).toEqual(["$.b.z is not documented", "$.e[1].f is missing"]);
    expect(findDifferences({ a: 1, b: null, e: [] }, shape as Shape, "$")).toEqual([]);
  });
});

/** Fields of a value that a shape does not name, and fields of the shape that the value lacks. */
function findDifferences(value: unknown, shape: Shape, path: string): readonly string[] {
  if (shape.kind === "any" || value === null) return [];
  if (shape.kind === "list") {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((one, index) => findDifferences(one, shape.of, `${path}[${index}]`));
  }
  if (typeof value !== "object" || Array.isArray(value)) return [`${path} is no object`];
  const fields = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).filter((name) => !shape.fields.has(name));
  return [
    ...unknown.map((name) => `${path}.${name} is not documented`),
    ...[...shape.fields].flatMap(([name, { isOptional, shape: inner }]) => {
      if (name in fields) return findDifferences(fields[name], inner, `${path}.${name}`);
      return isOptional ? [] : [`${path}.${name} is missing`];
    }),
  ];
}
