// The HTTP API from any program: a gateway in this process, and plain requests to it. In real life, `longhaul serve` runs
// the gateway, and the requests may come from any language.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKernel } from "longhaul";
import { loadConfig, openGateway } from "longhaul/gateway";

const folder = process.env.LONGHAUL_HOME ?? (await mkdtemp(join(tmpdir(), "longhaul-")));
const { config } = loadConfig({ cwd: folder, env: {}, flags: { port: "0" } });
const kernel = await openKernel({ path: join(folder, "store"), embedder: null });
const gateway = await openGateway({ kernel, config: () => config, log: () => undefined });

// biome-ignore lint/suspicious/noExplicitAny: /openapi.json describes the answers.
async function ask(path: string, body?: object): Promise<any> {
  const response = await fetch(`${gateway.url}/api/v1${path}`, {
    ...(body && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  return response.json();
}

await ask("/sessions", { id: "ticket/4711", title: "Lost parcel" });
const session = `/sessions/${encodeURIComponent("ticket/4711")}`;
const messages = Array.from({ length: 40 }, (_, turn) => [
  { role: "user", text: `Question ${turn}: where is parcel ${1_000 + turn}?` },
  {
    role: "assistant",
    text: `Answer ${turn}: at shelf ${turn}. ${"It was scanned at the harbor. ".repeat(40)}`,
  },
]).flat();
const { entries } = await ask(`${session}/entries`, { messages, key: "first" });
const again = await ask(`${session}/entries`, { messages, key: "first" });
console.log(`${entries.length} entries appended, then ${again.isRepeated ? 0 : again.entries.length}`);

const fitted = await ask(`${session}/fit`, { model: "gpt-4o-mini", format: "openai-chat", window: 8_000 });
console.log(`${fitted.messages.length} messages of ${fitted.tokens} tokens fit a window of 8000`);
const { overlays } = await ask(`${session}/receipts`);
console.log(`receipt: ${overlays[0].receipt.left.entries} messages left the window, none left the log`);

const { hits } = await ask("/recall?q=parcel+1003");
console.log(`recalled: ${hits[0].entry}`);
const { error } = await ask("/sessions/none");
console.log(`${error.code}: ${error.remedy}`);

await gateway.close();
await kernel.close();
if (process.env.LONGHAUL_HOME === undefined) await rm(folder, { recursive: true });
