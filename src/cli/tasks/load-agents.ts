import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent, Kernel, Session } from "../../index.ts";
import type { CliContext } from "../cli-context.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Loads the agents that modules export: each export may be an agent, a list of agents, or a function of the kernel that
 * returns either. Throws UsageError.
 */
export async function loadAgents(
  context: CliContext,
  kernel: Kernel,
  files: readonly string[],
): Promise<readonly Agent<Session>[]> {
  const agents: Agent<Session>[] = [];
  for (const file of files) {
    const exported = await importModule(resolve(context.cwd, file), file);
    const before = agents.length;
    for (const value of new Set(Object.values(exported))) agents.push(...(await readAgents(value, kernel)));
    if (agents.length === before)
      throw new UsageError(`${file} exports no agent; export an object with a name and a function run`);
  }
  return agents;
}

async function importModule(path: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(
      `--agents ${file} could not be loaded: ${error instanceof Error ? error.message : error}`,
    );
  }
}

async function readAgents(value: unknown, kernel: Kernel): Promise<readonly Agent<Session>[]> {
  const made: unknown = typeof value === "function" ? await value(kernel) : value;
  return (Array.isArray(made) ? made : [made]).filter(isAgent);
}

function isAgent(value: unknown): value is Agent<Session> {
  const { name, run } = (value ?? {}) as Partial<Agent<Session>>;
  return typeof name === "string" && typeof run === "function";
}
