import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { FormatName } from "../../../../src/histories/port/format.ts";
import type { Json } from "../../../../src/kernel/index.ts";
import type { Sample, SampleFile } from "../sample.ts";

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "agents", "fixtures");

/** The fixtures of agents as samples, each file with the values that can be changed. */
export const agentSamples: readonly Sample[] = readdirSync(FIXTURES)
  .filter((name) => statSync(join(FIXTURES, name)).isDirectory())
  .map((format) => ({
    format: format as FormatName,
    name: "its fixture",
    files: Object.fromEntries(listFiles(join(FIXTURES, format), "")),
  }));

function* listFiles(folder: string, below: string): Generator<[path: string, file: SampleFile]> {
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    if (statSync(join(folder, path)).isDirectory()) yield* listFiles(folder, path);
    else yield [path.replace(/\.sql$/, ""), toSampleFile(path, readFileSync(join(folder, path), "utf8"))];
  }
}

function toSampleFile(path: string, text: string): SampleFile {
  if (path.endsWith(".sql")) return toDatabase(text);
  if (path.endsWith(".json")) return { kind: "json", values: [JSON.parse(text) as Json] };
  if (!path.endsWith(".jsonl")) return { kind: "text", values: [text] };
  const values = text.split("\n").filter((line) => line !== "");
  return { kind: "lines", values: values.map((line) => JSON.parse(line) as Json) };
}

/** Turns statements into a schema and rows, whose JSON can be changed. */
function toDatabase(sql: string): SampleFile {
  const database = new DatabaseSync(":memory:");
  database.exec(sql);
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all();
  const values = tables.flatMap(({ name }) =>
    database
      .prepare(`SELECT * FROM "${name}"`)
      .all()
      .map(
        (row): Json => ({
          table: String(name),
          row: Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toValue(value)])),
        }),
      ),
  );
  database.close();
  return { kind: "database", schema: tables.map((table) => `${table.sql};`).join(" "), values };
}

function toValue(value: unknown): Json {
  if (typeof value !== "string" || !/^[[{]/.test(value)) return value as Json;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}
