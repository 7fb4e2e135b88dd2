import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { hidePassword } from "../model/base/postgres-url.ts";
import type { CommonValues } from "./cli-command.ts";
import type { CliContext } from "./cli-context.ts";
import { writeAtomically } from "./connecting/agent-file.ts";
import { findStoreUrl, getStorePath } from "./open-store.ts";

/** Variables by which a program that others start finds the store. */
type StoreVariables = Readonly<Record<string, string>>;

/** The file of variables for programs that others start; only its user can read it. */
export function getEnvironmentPath(folder: string): string {
  return join(folder, "service.env");
}

/**
 * The variables of a store in a database that others need: none for a folder, and none where the configuration file
 * names the database.
 */
export function listStoreVariables(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
): StoreVariables {
  const found = findStoreUrl(context, options);
  if (!found) return {};
  const folder = getStorePath(context, options);
  const password = context.env.PGPASSWORD || undefined;
  return dropUndefined({
    LONGHAUL_HOME: folder !== join(context.home, ".longhaul") ? folder : undefined,
    LONGHAUL_STORE: found.source !== "file" ? found.url : undefined,
    PGPASSWORD: password !== undefined && hidePassword(found.url) === found.url ? password : undefined,
  });
}

/** Lines that tell which variables are written, without their secrets. */
export function describeStoreVariables(variables: StoreVariables, path: string): readonly string[] {
  const lines = Object.entries(variables).map(
    ([name, value]) => `    ${name}=${name === "PGPASSWORD" ? "***" : hidePassword(value)}`,
  );
  return lines.length === 0
    ? []
    : [
        "",
        `The store is a database. These variables are kept in ${path}, which only you can read:`,
        ...lines,
      ];
}

/** Writes variables into the file and keeps its other lines; returns a function that restores the file's content. */
export function writeStoreVariables(variables: StoreVariables, path: string): () => void {
  const names = Object.keys(variables);
  if (names.length === 0) return () => undefined;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const kept = before
    .split("\n")
    .filter((line) => line !== "" && !names.some((name) => line.startsWith(`${name}=`)));
  const lines = names.map((name) => `${name}=${quoteValue(variables[name] as string)}`);
  writeAtomically(path, `${[...kept, ...lines].join("\n")}\n`, 0o600);
  return () => writeAtomically(path, before, 0o600);
}

/** Quotes a value for Node's parser of such files, in which # begins a comment. */
function quoteValue(value: string): string {
  if (/^[\w@+=:,./%?&*-]+$/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}
