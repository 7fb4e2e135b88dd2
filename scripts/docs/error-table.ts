import { listErrorGuides } from "../../src/cli/error-guide.ts";

/** Builds the table of docs/errors.md. */
export function buildErrorTable(): string {
  const rows = listErrorGuides().map(
    ({ code, meaning, remedy, details }) => `| \`${code}\` | ${meaning} | ${remedy} | ${details} |`,
  );
  return ["| code | meaning | remedy | details |", "|---|---|---|---|", ...rows].join("\n");
}
