import { resolve } from "node:path";
import type { Kernel } from "../../index.ts";
import type { CliContext } from "../cli-context.ts";
import { findSession } from "../find-session.ts";

/** Options that narrow the scope of a recall. */
interface ScopeValues {
  readonly session?: readonly string[];
  readonly prefix?: string;
  readonly agent?: string;
  readonly path?: readonly string[];
}

type Scope = NonNullable<NonNullable<Parameters<Kernel["memory"]["recall"]>[1]>["scope"]>;

/** Builds the scope of a recall; undefined for everything. */
export async function buildRecallScope(
  kernel: Kernel,
  { cwd }: CliContext,
  { session, prefix, agent, path }: ScopeValues,
): Promise<Scope | undefined> {
  const sessions: string[] = [];
  for (const wanted of session ?? []) sessions.push(await findSession(kernel, wanted));
  if (agent !== undefined) sessions.push(kernel.memories(agent).session);
  const scope: Scope = {
    ...(sessions.length > 0 && { sessions }),
    ...(prefix !== undefined && { prefix }),
    ...(path && { files: path.map((one) => resolve(cwd, one)) }),
  };
  return Object.keys(scope).length === 0 ? undefined : scope;
}
