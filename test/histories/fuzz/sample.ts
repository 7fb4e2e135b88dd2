import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FormatName } from "../../../src/histories/port/format.ts";
import type { Json } from "../../../src/kernel/index.ts";

/** A file of a sample, as values that can be changed before they are written. */
export type SampleFile =
  | { readonly kind: "lines"; readonly values: Json[] }
  | { readonly kind: "json"; readonly values: Json[] }
  | { readonly kind: "text"; readonly values: Json[] }
  /** Each value is a row: `{ table, row }`, whose objects and arrays are written as JSON. */
  | { readonly kind: "database"; readonly schema: string; readonly values: Json[] };

/** A small conversation of a foreign tool, by file path. */
export interface Sample {
  readonly format: FormatName;
  readonly name: string;
  readonly files: Readonly<Record<string, SampleFile>>;
}

/** A JSONL file. */
export const lines = (...values: Json[]): SampleFile => ({ kind: "lines", values });
/** A JSON file. */
export const json = (value: Json): SampleFile => ({ kind: "json", values: [value] });
/** Any other file. */
export const text = (value: string): SampleFile => ({ kind: "text", values: [value] });

/** A deep copy that may be changed. */
export function copyOf(sample: Sample): Sample {
  return structuredClone(sample);
}

/** The bytes of a file. A database is created by SQLite at `path`. */
export function bytesOf(file: SampleFile, path: string, textOf: (value: Json) => string): Buffer {
  switch (file.kind) {
    case "lines":
      return Buffer.from(file.values.map((value) => `${textOf(value)}\n`).join(""));
    case "json":
      return Buffer.from(file.values.map(textOf).join("\n"));
    case "text":
      return Buffer.from(file.values.join(""));
    case "database":
      makeDatabase(path, file, textOf);
      return readFileSync(path);
  }
}

function makeDatabase(
  path: string,
  { schema, values }: SampleFile & { kind: "database" },
  textOf: (value: Json) => string,
): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; ${schema}`);
    for (const value of values) insert(db, value, textOf);
    db.exec("COMMIT");
  } finally {
    db.close();
  }
}

/** Inserts a row if the changed value still is one. */
function insert(db: DatabaseSync, value: Json, textOf: (value: Json) => string): void {
  const { table, row } = (value ?? {}) as { table?: Json; row?: Json };
  if (typeof table !== "string" || row === null || typeof row !== "object") return;
  const columns = Object.entries(row);
  const names = columns.map(([name]) => `"${name.replaceAll('"', "")}"`);
  const cells = columns.map(([, cell]) => {
    if (cell !== null && typeof cell === "object") return textOf(cell);
    return typeof cell === "boolean" ? Number(cell) : (cell as string | number | null);
  });
  try {
    const marks = cells.map(() => "?").join();
    db.prepare(`INSERT INTO "${table.replaceAll('"', "")}" (${names.join()}) VALUES (${marks})`).run(
      ...cells,
    );
  } catch {
    // An unknown column, or a value that the table does not accept.
  }
}
