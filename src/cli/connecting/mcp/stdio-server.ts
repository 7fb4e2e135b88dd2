import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveModuleFile } from "../../../model/base/package-files.ts";
import type { CommonValues } from "../../cli-command.ts";
import type { CliContext } from "../../cli-context.ts";
import { getStorePath } from "../../open-store.ts";
import { getEnvironmentPath, listStoreVariables } from "../../store-environment.ts";
import { isOnPath } from "../find-agents.ts";

/** The command by which an agent starts the MCP server. */
export interface StdioServer {
  readonly program: string;
  readonly args: readonly string[];
}

/** Chooses a command that survives updates where possible: the program on the search path, npx, or this very copy. */
export function findStdioServer(context: CliContext, options: CommonValues): StdioServer {
  const main = fileURLToPath(resolveModuleFile("cli/main"));
  const store = getStorePath(context, options);
  // The URL of a database may contain a password, and agents' files may be readable by others.
  if (Object.keys(listStoreVariables(context, options)).length > 0)
    return {
      program: process.execPath,
      args: ["--max-semi-space-size=8", `--env-file-if-exists=${getEnvironmentPath(store)}`, main, "mcp"],
    };
  const named = store === join(context.home, ".longhaul") ? [] : ["--store", store];
  if (context.platform !== "win32") {
    if (isOnPath(context, "longhaul")) return { program: "longhaul", args: ["mcp", ...named] };
    if (/[\\/]_npx[\\/]/.test(main)) return { program: "npx", args: ["-y", "longhaul", "mcp", ...named] };
  }
  return { program: process.execPath, args: ["--max-semi-space-size=8", main, "mcp", ...named] };
}
