import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";

const ID = "local/openai-chat:one";

test("labels of a conversation stay when the gateway begins it and marks it", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url, config: { recall: "always" } });
  await using session = await gateway.kernel.session(ID, { meta: { label: "kept" } });
  const agent = new TestAgent(gateway, "openai-chat");
  agent.headers["x-longhaul-session"] = "one";
  await agent.say("Begin the work.");
  await session.update(({ meta }) => ({ meta: { ...meta, ticket: 4711 } }));
  await agent.say("Go on.");
  const { meta } = await session.record();
  expect(meta).toMatchObject({
    label: "kept",
    ticket: 4711,
    gateway: { kind: "main", hasRecallTools: true },
  });
});

test("changes of the meta of one conversation at the same moment are all stored", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  await using session = await gateway.kernel.session("ticket");
  const change = (field: string) =>
    fetch(`${gateway.url}/api/v1/sessions/ticket`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ meta: { [field]: 1 } }),
    });
  const fields = Array.from({ length: 10 }, (_, index) => `field-${index}`);
  const replies = await Promise.all(fields.map(change));
  expect(replies.map(({ status }) => status)).toEqual(fields.map(() => 200));
  expect(Object.keys((await session.record()).meta ?? {}).toSorted()).toEqual(fields);
});
