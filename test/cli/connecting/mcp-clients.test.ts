import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { findInstalled } from "../../../clients/install.ts";
import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { serveGateway } from "../../support/served-gateway.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { runHere } from "../support/here.ts";
import { homeWith, snapshotOf } from "./home.ts";
import { REAL_CLIENTS, runClient } from "./real-clients.ts";

const AGENTS = ["claude-code", "codex", "opencode"];
const QUESTION = "On which port does the staging database listen?";
const PORT = "6543";
const SEARCH = { query: "select:mcp__longhaul__recall", max_results: 1 };
const RECALL = /"name":\s*"([\w.-]*recall)"/;

/**
 * A model that calls the client's MCP tool, and answers with the port if the result names it. Claude Code shows tools
 * of servers that are still starting only after a search.
 */
const asking = says((heard) => {
  const text = heard.body.toString();
  const tools = JSON.stringify(heard.json.tools ?? []);
  const name = RECALL.exec(tools)?.[1];
  const isSearched = (text.match(/"search_\d"/g) ?? []).length;
  if (text.includes(QUESTION) && name === undefined && tools.includes('"ToolSearch"') && isSearched < 8)
    return { toolCalls: [{ id: `search_${isSearched}`, name: "ToolSearch", input: SEARCH }] };
  if (!text.includes(QUESTION) || name === undefined) return { text: "Fine." };
  if (text.includes("call_1")) return { text: text.includes(PORT) ? `It is ${PORT}.` : "I do not know." };
  const namespace = /"name":"(mcp__longhaul)"/.exec(tools)?.[1];
  const input = { query: "staging database port" };
  return { toolCalls: [{ id: "call_1", name, input, ...(namespace !== undefined && { namespace }) }] };
});

/** Settings of the user: tools of the server need no permission, and Codex waits for it. */
const ALLOWED: Readonly<Record<string, (files: Readonly<Record<string, string>>) => Record<string, string>>> =
  {
    "claude-code": () => ({ ".claude/settings.json": '{ "permissions": { "allow": ["mcp__longhaul"] } }\n' }),
    codex: (files) => ({
      ".codex/config.toml": `${files[".codex/config.toml"]}\n[mcp_servers.longhaul]\nrequired = true\n`,
    }),
    opencode: (files) => files,
  };

proofTest.for(REAL_CLIENTS.filter(({ agent }) => AGENTS.includes(agent.name)))(
  "$agent.name recalls an earlier conversation through the MCP server that connect --mcp gave it",
  async (client, { skip }) => {
    const installed = findInstalled(client.agent);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const [store, cwd] = [testFolder(), testFolder()];
    const files = { ...client.files, ...ALLOWED[client.agent.name]?.(client.files) };
    const home = homeWith(files);
    writeFileSync(join(cwd, "README.md"), "A shop.\n");
    mkdirSync(join(cwd, ".git"));
    {
      await using kernel = await openKernel({ path: store });
      await using session = await kernel.session("claude-code/earlier", { meta: { facts: { cwd } } });
      await session.append({ role: "user", text: `Note that the staging database listens on port ${PORT}.` });
      await using other = await kernel.session("claude-code/other", {
        meta: { facts: { cwd: "/elsewhere" } },
      });
      await other.append({
        role: "user",
        text: "The staging database of another shop listens on port 9999.",
      });
    }
    const before = snapshotOf(home);
    const upstream = await startUpstream(asking);
    const gateway = await serveGateway(upstream.url, ["--recall", "off"], store);
    expect(
      (await runHere(["connect", client.agent.name, "--yes", "--url", gateway.url], { home })).code,
    ).toBe(0);
    const connected = await runHere(["connect", "--mcp", client.agent.name, "--yes", "--store", store], {
      home,
    });
    expect(connected.code, connected.stdout + connected.stderr).toBe(0);
    const command = client.command(installed, home, {
      prompt: QUESTION,
      isFirst: true,
      key: "sk-ant-0123456789",
    });
    if (!command) return skip("there is no program for this platform");
    const ended = await runClient(command, home, { cwd });
    const told = upstream.heard.map(({ body }) => body.toString()).find((body) => body.includes("call_1"));
    expect(client.agent.answer(ended.stdout), `${ended.stdout}\n${ended.stderr}\n${told}`).toBe(
      `It is ${PORT}.`,
    );
    // The project comes first, and the running conversation, which the gateway logs, is left out.
    expect(told).not.toContain("9999");
    expect(told).toContain("1 conversation of other projects and the running conversation");
    expect((await runHere(["disconnect", client.agent.name, "--store", store], { home })).code).toBe(0);
    const after = snapshotOf(home);
    for (const path of Object.keys(files)) expect(after[path], path).toBe(before[path]);
  },
);
