// Makes the bundles of plugins/ and the other files by which agents find longhaul, all from one description
// (src/adapters/hooks/hook-setups.ts). With --check it writes nothing and fails if a file differs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildHookSettings, HOOK_SETUPS } from "../src/adapters/hooks/hook-setups.ts";
import { SKILL_FILE } from "../src/adapters/mcp/skill.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SKILL = "skills/longhaul-memory/SKILL.md";
const MCP = { mcpServers: { longhaul: { command: "longhaul", args: ["mcp"] } } };

/** The module of opencode; connecting names the program and its arguments. */
const OPENCODE = `// Made by longhaul: recall at the moment of action. "longhaul disconnect --hooks" removes this file.
import { spawn } from "node:child_process";

const PROGRAM = "longhaul";
const ARGS = ["hook"];
const LIMIT_MS = ${HOOK_SETUPS.opencode.timeout[1]};

/** Calls longhaul; resolves to the text to add, or to undefined. Never rejects. */
function ask(event, fields) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, [...ARGS, event, "--client", "opencode"], { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), LIMIT_MS);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", () => resolve(undefined));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(output).context);
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(fields));
  });
}

/** Conversations that have begun in this process. */
const begun = new Set();

const Longhaul = async ({ directory }) => {
  // Nobody waits for this one: it starts the server that answers the first prompt.
  void ask("session-start", {});
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\\n");
      const fields = { session_id: sessionID, cwd: directory };
      const events = begun.has(sessionID) ? ["prompt"] : ["session-start", "prompt"];
      begun.add(sessionID);
      const texts = await Promise.all(events.map((event) => ask(event, { ...fields, prompt })));
      const last = parts.at(-1);
      if (last === undefined) return;
      for (const [at, text] of texts.entries())
        if (text !== undefined)
          parts.push({ ...last, id: last.id + "longhaul" + at, type: "text", synthetic: true, text, messageID: message.id, sessionID });
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      const failed = output?.metadata?.exit !== undefined && output.metadata.exit !== 0;
      if (!failed) return;
      const tool_response = { text: output.output, exit_code: output.metadata.exit };
      const fields = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args, tool_response };
      const text = await ask("after-failure", fields);
      if (text !== undefined) output.output += "\\n" + text;
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const text = await ask("after-compaction", { session_id: sessionID, cwd: directory });
      if (text !== undefined) output.context.push(text);
    },
  };
};

export { Longhaul };
`;

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
    "opencode/longhaul.js": OPENCODE,
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
  // The limits of the registry's schema; package.json alone names the account that publishes.
  const { name, description, version, packages } = JSON.parse(bundles.get("server.json"));
  if (!/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name))
    problems.push(`mcpName is no name of a server: ${name}`);
  if (description.length > 100) problems.push("the description in server.json is longer than 100 characters");
  if (packages.some((one) => one.version !== version)) problems.push("server.json names two versions");
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
