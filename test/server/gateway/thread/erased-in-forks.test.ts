import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";

const WORD = "heronfold";

test("a message that is erased in the original is not sent for a fork of a running gateway", async () => {
  const upstream = await startUpstream(says((_, index) => ({ text: `Reply ${index + 1}.` })));
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  agent.headers["x-claude-code-session-id"] = "origin-0001";
  for (const words of [`The vault opens with ${WORD} turns.`, "What is next?"]) await agent.say(words);
  const fork = new TestAgent(gateway);
  fork.headers["x-claude-code-session-id"] = "fork-0002";
  fork.elements = [...agent.elements];
  for (const words of ["Another way.", "Go on."]) await fork.say(words);
  const [forked, origin] = await threadsOf(gateway, "main");
  expect(forked?.parent).toBe(origin?.id);
  await using session = await gateway.kernel.session(origin?.id ?? "");
  for await (const { seq, ...entry } of session.entries({ kinds: ["message"] }))
    if (JSON.stringify(entry).includes(WORD)) await session.redact(seq);
  for (const one of [fork, agent]) {
    await one.say("And now?");
    const sent = upstream.heard.at(-1)?.body.toString() ?? "";
    expect(sent).toContain("And now?");
    expect(sent).not.toContain(WORD);
  }
  for (const { title } of await threadsOf(gateway)) expect(title).not.toContain(WORD);
});
