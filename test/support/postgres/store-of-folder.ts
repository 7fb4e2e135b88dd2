import { createSchemaUrl, findTestPostgres } from "./test-postgres.ts";

const urls = new Map<string, string>();

/**
 * With LONGHAUL_TEST_STORE=postgres, the database that stands for a folder in this run, so that the tests of the gateway,
 * the API and MCP run over PostgreSQL; undefined otherwise.
 */
export async function findStoreOfFolder(path: string): Promise<string | undefined> {
  if (process.env.LONGHAUL_TEST_STORE !== "postgres") return undefined;
  const known = urls.get(path) ?? createSchemaUrl(await findTestPostgres());
  urls.set(path, known);
  return known;
}
