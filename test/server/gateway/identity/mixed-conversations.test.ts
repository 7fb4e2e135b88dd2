import { expect, test } from "vitest";
import { findMixedConversations } from "../../../../src/server/gateway/identity/index.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";

test("a conversation is named as mixed if it holds a reply of another one whose id begins its own", async () => {
  const upstream = await startUpstream(says((_, index) => ({ text: `Reply ${index}.` })));
  const { url, kernel } = await startGateway({ upstream: upstream.url });
  for (const name of ["repo", "repo/feature", "repo/other"]) {
    const agent = new TestAgent({ url }, "openai-chat");
    agent.headers["x-longhaul-session"] = name;
    await agent.say(`Words of ${name}.`);
  }
  const list = async () => {
    const records = await kernel.sessions({ limit: 10 });
    return findMixedConversations(
      kernel,
      (async function* () {
        yield* records;
      })(),
    );
  };
  expect(await list()).toEqual([]);
  // As an earlier version did: the reply of "repo" with its keys in the session of "repo/feature".
  await using repo = await kernel.session("local/openai-chat:repo");
  const reply = (await repo.read({ from: 1, limit: 10, kinds: ["message"] })).at(-1);
  if (reply?.kind !== "message") throw new Error("the conversation has no reply");
  await using feature = await kernel.session("local/openai-chat:repo/feature");
  const { seq } = await feature.append(reply.message);
  const places = (await kernel.places.ofSession(repo.id)).filter((place) => place.seq === reply.seq);
  await kernel.places.put(places.map(({ key }) => ({ key, session: feature.id, seq })));
  expect(await list()).toEqual([feature.id]);
});
