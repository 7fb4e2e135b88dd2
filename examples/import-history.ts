// Imports a conversation of another tool into a store, twice, and exports it as Markdown.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKernel } from "longhaul";
import { exportSession, importSources, WRITERS } from "longhaul/formats";

const folder = mkdtempSync(join(tmpdir(), "longhaul-example-"));
try {
  // A file of messages that a program sent to an API.
  const messages = [
    { role: "user", content: "Why does login.test.ts fail?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: { name: "read_file", arguments: '{"path":"login.test.ts"}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "await server.start()" },
    { role: "assistant", content: "It waits for a server that never starts." },
  ];
  writeFileSync(join(folder, "ticket-4711.json"), JSON.stringify(messages));

  await using kernel = await openKernel({ path: join(folder, "store") });
  const first = await importSources(kernel, [folder]);
  const again = await importSources(kernel, [folder]);
  console.log(`${first.totals.added.messages} messages imported, then ${again.totals.added.messages}`);

  const markdown = WRITERS.find(({ name }) => name === "markdown");
  const session = first.sources[0]?.session;
  if (!markdown || session === undefined) throw new Error("nothing was imported");
  for await (const { text } of exportSession(kernel, session, markdown)) process.stdout.write(text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
