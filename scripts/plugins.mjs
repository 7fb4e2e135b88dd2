// Makes the bundles of plugins/ and the other files by which agents find longhaul, all from one description
// (src/adapters/hooks/hook-setups.ts). With --check it writes nothing and fails if a file differs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildHookSettings, buildOpencodePlugin, HOOK_SETUPS } from "../src/adapters/hooks/hook-setups.ts";
import { SKILL_FILE } from "../src/adapters/mcp/skill.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SKILL = "skills/longhaul-memory/SKILL.md";
const MCP = { mcpServers: { longhaul: { command: "longhaul", args: ["mcp"] } } };

/** The files by path, from the package's own facts. */
export function buildBundles() {
  const { version, description, mcpName } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const facts = { name: "longhaul", version, description };
  const hooksOf = (client) => ({
    hooks: buildHookSettings(client, (event) => `longhaul hook ${event} --client ${client}`),
  });
  const recall = (words) =>
    `Call the tool recall of longhaul with this question, and answer from the hits with their citations: ${words}`;
  const files = {
    ".claude-plugin/marketplace.json": {
      name: "longhaul",
      owner: { name: "longhaul" },
      plugins: [{ name: "longhaul", source: "./claude-code", description, version }],
    },
    "claude-code/.claude-plugin/plugin.json": facts,
    "claude-code/hooks/hooks.json": hooksOf("claude-code"),
    "claude-code/.mcp.json": MCP,
    [`claude-code/${SKILL}`]: SKILL_FILE,
    "claude-code/commands/recall.md": command("Search earlier conversations", recall("$ARGUMENTS")),
    "claude-code/commands/longhaul.md": command(
      "Show the state of longhaul",
      'Run "longhaul status" and report it. If the status line of longhaul is missing, offer to run "longhaul connect --hooks claude-code", which adds it to the settings.',
    ),
    "codex/.codex-plugin/plugin.json": {
      ...facts,
      hooks: "./hooks/hooks.json",
      mcpServers: "./.mcp.json",
      skills: "./skills/",
    },
    "codex/hooks/hooks.json": hooksOf("codex"),
    "codex/.mcp.json": MCP,
    [`codex/${SKILL}`]: SKILL_FILE,
    "gemini-cli/gemini-extension.json": { ...facts, ...MCP },
    "gemini-cli/hooks/hooks.json": hooksOf("gemini-cli"),
    "gemini-cli/commands/recall.toml": `description = "Search earlier conversations"\nprompt = ${JSON.stringify(recall("{{args}}"))}\n`,
    [`gemini-cli/${SKILL}`]: SKILL_FILE,
    "qwen-code/qwen-extension.json": { ...facts, ...MCP, ...hooksOf("qwen-code") },
    [`qwen-code/${SKILL}`]: SKILL_FILE,
    "cursor/hooks.json": { version: 1, ...hooksOf("cursor") },
    "cursor/mcp.json": MCP,
    "copilot/hooks/longhaul.json": { version: 1, ...hooksOf("copilot") },
    "copilot/mcp-config.json": {
      mcpServers: { longhaul: { type: "local", command: "longhaul", args: ["mcp"], tools: ["*"] } },
    },
    "opencode/longhaul.js": buildOpencodePlugin("longhaul", ["hook"]),
  };
  const bundles = Object.entries(files).map(([path, content]) => [`plugins/${path}`, toText(content)]);
  const server = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: mcpName,
    description: "Search and save what was said and done in earlier conversations, across agents.",
    version,
    packages: [
      {
        registryType: "npm",
        identifier: "longhaul",
        version,
        transport: { type: "stdio" },
        runtimeHint: "npx",
        packageArguments: [{ type: "positional", value: "mcp" }],
      },
    ],
  };
  return new Map([
    ...bundles,
    [`.agents/${SKILL}`, SKILL_FILE],
    [`${SKILL}`, SKILL_FILE],
    ["server.json", toText(server)],
  ]);
}

/** Problems of the bundles: events without a name, commands that the program does not know, forms that differ. */
export function findProblems(bundles) {
  const problems = [];
  for (const [client, { hooks, form }] of Object.entries(HOOK_SETUPS)) {
    const names = hooks.map(({ name, matcher = "" }) => `${name} ${matcher}`);
    if (new Set(names).size < names.length)
      problems.push(`${client} has two hooks for one event and matcher`);
    if (form !== "module" && !hooks.some(({ event }) => event === "prompt"))
      problems.push(`${client} has no prompt`);
  }
  for (const [path, text] of bundles) {
    if (path.endsWith(".json")) JSON.parse(text);
    for (const [, event] of text.matchAll(/longhaul hook (\S+) --client/g))
      if (!Object.values(HOOK_SETUPS).some(({ hooks }) => hooks.some((one) => one.event === event)))
        problems.push(`${path} names the unknown event ${event}`);
  }
  return problems;
}

function toText(content) {
  return typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`;
}

function command(description, text) {
  return `---\ndescription: ${description}\n---\n\n${text}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bundles = buildBundles();
  const isCheck = process.argv.includes("--check");
  const problems = findProblems(bundles);
  for (const [path, text] of bundles) {
    const file = join(root, path);
    if (isCheck) {
      let now = "";
      try {
        now = readFileSync(file, "utf8");
      } catch {
        // Missing files differ too.
      }
      if (now !== text) problems.push(`${path} differs; run "node scripts/plugins.mjs"`);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
