// The MCP server as an agent starts it: a program on standard streams, with the tools that find earlier conversations. In
// real life, `longhaul connect --mcp` writes the command into the agent's configuration.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openKernel } from "longhaul";

const folder = process.env.LONGHAUL_HOME ?? (await mkdtemp(join(tmpdir(), "longhaul-")));
const store = join(folder, "store");
const project = join(folder, "shop");
await mkdir(project, { recursive: true });

// Conversations of earlier days, here and in another project.
{
  await using kernel = await openKernel({ path: store });
  const said = [
    { id: "monday", cwd: project, text: "The staging server listens on port 7781." },
    { id: "tuesday", cwd: "/work/other", text: "The staging server of the other shop has port 4000." },
  ];
  for (const { id, cwd, text } of said) {
    await using session = await kernel.session(id, { meta: { cwd } });
    await session.appendAll([
      { role: "user", text: "Which port does staging have?" },
      { role: "assistant", text },
    ]);
  }
}

const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const args = [main, "mcp", "--store", store, "--project", project];
const client = new Client(
  { name: "example", version: "1" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await client.connect(new StdioClientTransport({ command: process.execPath, args }));

async function call(name: string, input: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

const { tools } = await client.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`);

const found = await call("recall", { query: "port of the staging server" });
console.log(found);
const [, cite = ""] = /(\S+#\d+), assistant/.exec(found) ?? [];
console.log(`\nexpanded ${cite}:\n${await call("expand", { cite })}`);

const everywhere = await call("recall", { query: "port of the staging server", where: "everywhere" });
console.log(`\neverywhere: ${everywhere.includes("4000") ? "both projects" : "one project"}`);
console.log(await call("remember", { text: "Staging has port 7781." }));

await client.close();
if (process.env.LONGHAUL_HOME === undefined) await rm(folder, { recursive: true });
