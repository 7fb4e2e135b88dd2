import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { ask, logOf, startGateway, threadsOf } from "../support/gateway.ts";
import { serveGateway } from "../support/served-gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const body = {
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Where is the heron?" }],
};

test("the first request, repeated after the gateway was killed before its reply, goes on with its session", async () => {
  const path = testFolder();
  const silent = await startUpstream(() => {});
  const killed = await serveGateway(silent.url, [], path);
  ask(killed, { path: "/v1/messages", body }).catch(() => undefined);
  await silent.received(1);
  await killed.kill();

  const gateway = await startGateway({ upstream: (await startUpstream()).url, path });
  expect((await ask(gateway, { path: "/v1/messages", body })).status).toBe(200);
  const threads = await threadsOf(gateway);
  expect(threads).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  expect(log.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
});
