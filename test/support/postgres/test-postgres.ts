import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll } from "vitest";
import { eventually } from "../eventually.ts";
import { startPostgres } from "./postgres-server.ts";
import { SERVER_FOLDER } from "./shared-server.ts";

/** A server for tests, or a sentence that says why there is none. */
export type FoundServer = { readonly url: string } | { readonly problem: string };

/** The user's server (LONGHAUL_TEST_POSTGRES), else one that all files of the run share; started on first use. */
export async function findTestPostgres(): Promise<FoundServer> {
  const own = process.env.LONGHAUL_TEST_POSTGRES;
  if (own) return { url: own };
  const folder = process.env[SERVER_FOLDER];
  if (!folder) return { problem: "the run has no global set-up for PostgreSQL" };
  const file = join(folder, "server.json");
  try {
    mkdirSync(join(folder, "starting"));
  } catch {
    await eventually("another worker has started PostgreSQL", () => existsSync(file));
    return JSON.parse(readFileSync(file, "utf8"));
  }
  const found = await startPostgres({ isDetached: true }).then(
    ({ url, pid, folder: data }) => ({ url, pid, folder: data }),
    (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
  );
  writeFileSync(`${file}.part`, JSON.stringify(found));
  renameSync(`${file}.part`, file);
  return found;
}

/** Shown by tests that are skipped. */
export function describeProblem(server: FoundServer): string {
  return "problem" in server
    ? `PostgreSQL: skipped, because ${server.problem}; LONGHAUL_TEST_POSTGRES=postgres://… names a server of your own`
    : "PostgreSQL";
}

const schemas = new Map<string, string[]>();

/** The URL of a new, empty schema. */
export function createSchemaUrl(server: FoundServer): string {
  if ("problem" in server) throw new Error(server.problem);
  const schema = `test_${randomBytes(8).toString("hex")}`;
  const made = schemas.get(server.url) ?? [];
  schemas.set(server.url, made);
  if (process.env.LONGHAUL_TEST_POSTGRES) {
    if (made.length === 0) afterAll(() => dropSchemas(server.url));
    made.push(schema);
  }
  return `${server.url}${server.url.includes("?") ? "&" : "?"}schema=${schema}`;
}

async function dropSchemas(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const schema of schemas.get(url)?.splice(0) ?? [])
    for (const name of [schema, `${schema}_jobs`])
      await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  await client.end();
}
