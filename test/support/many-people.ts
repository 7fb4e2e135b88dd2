import { hash } from "node:crypto";
import { TestAgent } from "./agent.ts";
import { startGateway, type TestGateway } from "./gateway.ts";
import { says, startUpstream } from "./upstream.ts";

/** Names of tokens that cannot stand in a session id as they are, and some that only look like others. */
export const NAMES = [
  "alice",
  "@alice",
  "a/b",
  "Jo Ann",
  "alice2",
  "a%2Fb",
  "名前",
  "local",
  `long ${"x".repeat(60)}1`,
  `long ${"x".repeat(60)}2`,
] as const;

/** The secret that a person says. */
function secretOf(name: string): string {
  return `vault${hash("sha256", name, "hex").slice(0, 8)}`;
}

/** The token of a person. */
export function tokenOf(name: string): string {
  return hash("sha256", `token of ${name}`, "base64url");
}

/** The people whose secret a text contains. */
export function peopleIn(text: string): readonly string[] {
  return [...NAMES, "import"].filter((name) => text.includes(secretOf(name)));
}

/** A gateway through which every person has said a secret, and whose owner has an import. */
export async function startGatewayOfPeople(): Promise<TestGateway> {
  const upstream = await startUpstream(says("Fine."));
  const tokens = NAMES.map((name) => ({ name, sha256: hash("sha256", tokenOf(name)) }));
  const gateway = await startGateway({ upstream: upstream.url, config: { tokens } });
  for (const name of NAMES) {
    const agent = new TestAgent(gateway);
    agent.headers["x-longhaul-token"] = tokenOf(name);
    agent.headers["x-longhaul-session"] = "same";
    await agent.say(`The vault opens with ${secretOf(name)} turns.`);
  }
  const session = await gateway.kernel.session("claude-code/import");
  await session.append({ role: "user", text: `The vault opens with ${secretOf("import")} turns.` });
  return gateway;
}
