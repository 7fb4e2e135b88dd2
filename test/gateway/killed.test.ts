import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram } from "../cli/support/program.ts";
import { testFolder } from "../support/folder.ts";
import { ask, logOf, startGateway, threadsOf } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const body = {
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Where is the heron?" }],
};

test("the first request, sent again after the gateway was killed before its reply, goes on with its session", async () => {
  const upstream = await startUpstream(() => {});
  const path = testFolder();
  const upstreams = [{ name: "upstream", baseUrl: upstream.url, apis: ["anthropic"] }];
  const config = join(testFolder(), "longhaul.json");
  writeFileSync(config, JSON.stringify({ upstreams }), { mode: 0o600 });
  const child = startProgram(["serve", "--port", "0", "--store", path, "--config", config]);
  let printed = "";
  child.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await child.says("http://127.0.0.1:");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] as string;
  ask({ url }, { path: "/v1/messages", body }).catch(() => undefined);
  await upstream.received(1);
  child.process.kill("SIGKILL");
  await child.ended;

  const answering = await startUpstream();
  const gateway = await startGateway({ upstream: answering.url, path });
  const answer = await ask(gateway, { path: "/v1/messages", body });
  expect(answer.status).toBe(200);
  const threads = await threadsOf(gateway);
  expect(threads).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  expect(log.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
});
