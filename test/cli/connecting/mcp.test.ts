import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonHere, runHere } from "../support/here.ts";
import { homeWith, snapshotOf } from "./home.ts";

/** Files with lists of MCP servers, as people have them. */
const FILES: Readonly<Record<string, string>> = {
  ".claude.json": '{\n  "numStartups": 4,\n  "mcpServers": {\n    "git": { "command": "git-mcp" }\n  }\n}\n',
  ".claude/settings.json": '{ "model": "opus" }\n',
  ".codex/config.toml":
    '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.git]\ncommand = "git-mcp"\n\n[tui]\ntheme = "dark"\n',
  ".config/opencode/opencode.jsonc":
    '{\n    // my model\n    "model": "anthropic/claude-sonnet-4-5",\n    "mcp": {},\n}\n',
  ".cline/data/settings/cline_mcp_settings.json": '{"mcpServers":{}}',
  ".openclaw/openclaw.json":
    "{\n  // JSON5\n  agents: { defaults: { model: 'anthropic/claude-sonnet-4-5' } },\n}\n",
  ".gemini/settings.json": '{\n\t"theme": "GitHub"\n}\n',
};
const AGENTS = ["claude-code", "codex", "opencode", "cline", "openclaw", "gemini-cli"];

interface AgentJson {
  readonly name: string;
  readonly state: string;
}
const statesOf = (value: { readonly agents: readonly AgentJson[] }) =>
  Object.fromEntries(value.agents.map(({ name, state }) => [name, state]));
const read = (home: string, path: string) => readFileSync(join(home, path), "utf8");

describe("connect --mcp", () => {
  test("connect --mcp adds the server to each agent's list, and disconnect restores every byte", async () => {
    const home = homeWith(FILES);
    const before = snapshotOf(home);
    const connected = await jsonHere(["connect", "--mcp", ...AGENTS, "--yes"], { home });
    expect(statesOf(connected.value)).toEqual(
      Object.fromEntries(AGENTS.map((name) => [`${name}-mcp`, "connected"])),
    );
    const claude = JSON.parse(read(home, ".claude.json"));
    expect(Object.keys(claude.mcpServers)).toEqual(["git", "longhaul"]);
    expect(claude.mcpServers.longhaul.args).toContain("mcp");
    expect(read(home, ".codex/config.toml")).toMatch(
      /\[mcp_servers\.longhaul\]\ncommand = ".+"\nargs = \[.*"mcp"\]/,
    );
    expect(read(home, ".config/opencode/opencode.jsonc")).toMatch(/"type": "local"/);
    const again = await jsonHere(["connect", "--mcp", ...AGENTS, "--yes"], { home });
    expect(new Set(Object.values(statesOf(again.value)))).toEqual(new Set(["unchanged"]));
    expect((await runHere(["disconnect", "--mcp"], { home })).code).toBe(0);
    expect(snapshotOf(home)).toEqual(before);
  });

  test("connect --mcp and the gateway share one file, and each can be disconnected first", async () => {
    for (const first of [
      ["disconnect", "codex", "--mcp"],
      ["disconnect", "codex"],
    ]) {
      const home = homeWith(FILES);
      const before = snapshotOf(home);
      await runHere(["connect", "codex", "--yes"], { home });
      const only = snapshotOf(home);
      await runHere(["connect", "--mcp", "codex", "--yes"], { home });
      expect(read(home, ".codex/config.toml")).toContain("openai_base_url");
      await runHere(first, { home });
      if (first.includes("--mcp")) {
        expect(snapshotOf(home)).toEqual(only);
        await runHere(["disconnect"], { home });
      }
      expect(snapshotOf(home)).toEqual(before);
    }
  });

  test("disconnect removes only the settings of connect --mcp once the agent has rewritten the file", async () => {
    const home = homeWith(FILES);
    await runHere(["connect", "--mcp", "claude-code", "--yes"], { home });
    const written = { ...JSON.parse(read(home, ".claude.json")), numStartups: 5 };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(written, undefined, 2));
    await runHere(["disconnect", "claude-code"], { home });
    expect(JSON.parse(read(home, ".claude.json"))).toEqual({
      numStartups: 5,
      mcpServers: { git: { command: "git-mcp" } },
    });
  });

  test("connect --mcp --url writes the endpoint of a running gateway, and refers to its token by a variable", async () => {
    const home = homeWith({
      ...FILES,
      ".longhaul/longhaul.json": JSON.stringify({ tokens: [{ name: "me", env: "LONGHAUL_TOKEN" }] }),
    });
    const url = "http://127.0.0.1:4999";
    await runHere(["connect", "--mcp", "claude-code", "codex", "opencode", "--url", url, "--yes"], {
      home,
      env: { LONGHAUL_TOKEN: "rK3vT9mQ2xL7wN5pB8dF4hJ6sZ1cY0aE" },
    });
    expect(JSON.parse(read(home, ".claude.json")).mcpServers.longhaul).toEqual({
      type: "http",
      url: `${url}/mcp`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Claude Code's own way to name a variable
      headers: { "x-longhaul-token": "${LONGHAUL_TOKEN}" },
    });
    expect(read(home, ".codex/config.toml")).toContain(`url = "${url}/mcp"`);
    for (const text of Object.values(snapshotOf(home))) expect(text).not.toContain("rK3vT9mQ");
  });

  test("connect --mcp says that pi does not support MCP, and gives instructions where the file is unknown", async () => {
    const { stdout } = await runHere(["connect", "--mcp", "pi", "continue", "--yes"], { home: homeWith({}) });
    expect(stdout).toContain("It has no support for MCP.");
    expect(stdout).toContain("Add an MCP server with the command:");
  });
});
