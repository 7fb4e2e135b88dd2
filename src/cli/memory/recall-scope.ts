import { resolve } from "node:path";
import { getMemoryAgent } from "../../gateway/identity/index.ts";
import type { Kernel } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findSession } from "../find-session.ts";
import { findSessionScope } from "../sessions/session-scope.ts";
import { UsageError } from "../usage-error.ts";

/** Options that narrow the scope of a recall. */
interface ScopeValues {
  readonly session?: readonly string[];
  readonly prefix?: string;
  readonly agent?: string;
  readonly path?: readonly string[];
  readonly as?: string;
}

type Scope = NonNullable<NonNullable<Parameters<Kernel["memory"]["recall"]>[1]>["scope"]>;

/** Builds the scope of a recall; undefined for everything. */
export async function buildRecallScope(
  kernel: Kernel,
  context: CliContext,
  options: ScopeValues & CommonValues,
): Promise<Scope | undefined> {
  const { session, prefix = "", agent, path } = options;
  if (options.as !== undefined && agent !== undefined)
    throw new UsageError("--as and --agent cannot be combined");
  // Indexed files belong to no person of the gateway.
  if (options.as !== undefined && path !== undefined)
    throw new UsageError("--as and --path cannot be combined");
  const within = await findSessionScope(kernel, context, options);
  const sessions: string[] = [];
  for (const wanted of session ?? []) sessions.push(await findSession(kernel, wanted, within));
  if (agent !== undefined) sessions.push(kernel.memories(agent).session);
  // A narrower question about some sessions is none about memories.
  const hasMemories = within.person !== undefined && session === undefined && prefix === "";
  const scope: Scope = {
    ...(sessions.length > 0 && { sessions }),
    ...(within.prefixes
      ? { prefixes: within.prefixes.map((own) => own + prefix) }
      : prefix !== "" && { prefix }),
    ...(hasMemories && { agents: [getMemoryAgent({ id: within.person as string })] }),
    ...(path && { files: path.map((one) => resolve(context.cwd, one)) }),
  };
  return Object.keys(scope).length === 0 ? undefined : scope;
}
