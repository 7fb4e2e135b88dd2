import { join } from "node:path";
import { LocalAgents } from "../../../../src/cli/connecting/local-agents.ts";

/** The agents of a home folder, for a gateway. */
export function localAgentsOf(home: string) {
  return (address: () => string) =>
    new LocalAgents({
      place: { home, env: {}, platform: "linux" },
      store: join(home, ".longhaul"),
      server: { program: "longhaul", args: ["mcp"] },
      gateway: () => ({ url: address(), needsToken: false }),
    });
}
