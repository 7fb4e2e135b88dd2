// Does all kinds of work in one process in rounds, and prints its memory as JSON, one line per sample.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as openRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";
import { loadConfig, openGateway } from "../../src/gateway/index.ts";
import { openKernel } from "../../src/index.ts";

const [rounds = "100", samples = "20"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "longhaul-soak-"));

/** A provider that streams its replies at once. */
const provider = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events: readonly [string, object][] = [
      [
        "message_start",
        {
          message: {
            id: "m",
            role: "assistant",
            content: [],
            model: "m",
            usage: { input_tokens: 9, output_tokens: 1 },
          },
        },
      ],
      ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
      [
        "content_block_delta",
        { index: 0, delta: { type: "text_delta", text: "A reply of a few words. ".repeat(8) } },
      ],
      ["content_block_stop", { index: 0 }],
      ["message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 40 } }],
      ["message_stop", {}],
    ];
    for (const [type, data] of events)
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    response.end();
  });
});
await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
const file = join(folder, "longhaul.json");
writeFileSync(
  file,
  JSON.stringify({
    port: 0,
    log: { level: "silent" },
    recall: { context: true, tools: false },
    upstreams: [{ name: "fake", baseUrl, apis: ["anthropic"] }],
    limits: { maxThreads: 20, maxThreadBytes: 2_000_000 },
  }),
);
const { config } = loadConfig({ path: file, cwd: folder, env: {}, flags: {} });
const kernel = await openKernel({ path: join(folder, "store"), models: config.models, embedder: null });
const gateway = await openGateway({ kernel, config: () => config, log: () => undefined, env: {} });
const { hostname, port } = new URL(gateway.url);
let requests = 0;

function ask(messages: readonly object[], isAborted: boolean): Promise<void> {
  requests++;
  const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, stream: true, messages });
  return new Promise((resolve) => {
    const request = openRequest(
      {
        hostname,
        port,
        path: "/v1/messages",
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": "key-of-alice" },
      },
      (answer) => {
        if (isAborted) request.destroy();
        answer
          .resume()
          .on("close", resolve)
          .on("error", () => resolve());
      },
    );
    request.on("error", () => resolve());
    request.end(body);
  });
}

/** A client's conversation of a few turns; one in five is abandoned in the middle of a reply. */
async function converse(round: number, client: number): Promise<void> {
  const messages: object[] = [];
  for (let turn = 0; turn < 4; turn++) {
    messages.push({
      role: "user",
      content: `Question ${round} ${client} ${turn} about the parser; do you remember what we said?`,
    });
    await ask(messages, client === 4 && turn === 3);
    messages.push({ role: "assistant", content: "A reply of a few words. ".repeat(8) });
  }
}

/** Work of a program with its own sessions. */
async function work(round: number): Promise<void> {
  await using session = await kernel.session(`work ${round % 50}`);
  for (let n = 0; n < 8; n++)
    await session.append({
      role: n % 2 ? "assistant" : "user",
      text: `${round} ${n} ${"some words ".repeat(20)}`,
    });
  const draft = session.draft({ role: "assistant", text: "thinking" });
  draft.write(" aloud");
  await draft.finish();
  await session.window({ model: "claude-sonnet-4-5", models: { "*": { window: 20_000 } } }).fit();
  if (round % 4 === 0) await session.compact({});
  for await (const _ of session.tail({ after: 0 })) break;
  const fork = await session.fork({ id: `fork ${round}` });
  await fork.close();
  await kernel.deleteSession(`fork ${round}`);
  await kernel.memory.recall(`question ${round} parser`, { k: 3 });
}

function sample(): void {
  for (let n = 0; n < 3; n++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { opened = 0, closed = 0 } = kernel.counts().session ?? {};
  console.log(JSON.stringify({ requests, rss, heapUsed, external, openSessions: opened - closed }));
}

const every = Math.max(1, Math.floor(Number(rounds) / Number(samples)));
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all([0, 1, 2, 3, 4].map((client) => converse(round, client)));
  await work(round);
  if ((round + 1) % every === 0) sample();
  const name = process.env.LONGHAUL_SNAPSHOTS;
  if (name && (round === Math.floor(Number(rounds) / 3) || round === Number(rounds) - 1))
    writeHeapSnapshot(`${name}-${round}.heapsnapshot`);
}
await gateway.close();
await kernel.close();
provider.close();
provider.closeAllConnections();
rmSync(folder, { recursive: true, force: true });
