import { nearestWords } from "../terminal/nearest-words.ts";
import { UsageError } from "../usage-error.ts";
import type { AgentConnector } from "./agents/agent-connector.ts";
import { CONNECTORS } from "./agents/connectors.ts";

/** The named agents; throws UsageError for an unknown name. */
export function chooseAgents(
  names: readonly string[],
  agents: readonly AgentConnector[] = CONNECTORS,
): readonly AgentConnector[] {
  return [...new Set(names)].map((name) => {
    const wanted = simplifyName(name);
    const found = agents.find((one) => [one.name, one.title].map(simplifyName).includes(wanted));
    if (found) return found;
    const all = agents.map((one) => one.name);
    const [nearest] = nearestWords(name, all);
    const hint = nearest === undefined ? `known agents: ${all.join(", ")}` : `did you mean ${nearest}?`;
    throw new UsageError(`there is no agent ${JSON.stringify(name)}; ${hint}`);
  });
}

/** "Claude Code", "claude-code" and "claudecode" are one name. */
function simplifyName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
