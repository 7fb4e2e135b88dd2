import { expect, test } from "vitest";
import { runHere } from "../../../cli/support/here.ts";
import { TestAgent } from "../../../support/agent.ts";
import { logOf, startGateway, threadsOf } from "../../../support/gateway.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";
import { ApiClient } from "../../api/support/api-client.ts";
import { lineOfThread } from "../only-line.ts";

const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

async function world() {
  const upstream = await startUpstream(numbered);
  return { upstream, gateway: await startGateway({ upstream: upstream.url }) };
}

/** An agent with Claude Code's session header that begins with the messages of another one. */
function agentWithId(gateway: { readonly url: string }, id: string, copied?: TestAgent): TestAgent {
  const agent = new TestAgent(gateway);
  agent.headers["x-claude-code-session-id"] = id;
  agent.elements = [...(copied?.elements ?? [])];
  return agent;
}

test("a conversation that is copied under a new session id becomes a fork and shares the old messages", async () => {
  const { upstream, gateway } = await world();
  const origin = agentWithId(gateway, "origin-0001");
  await origin.say("Find the bug in the parser.");
  await origin.say("Now fix it, please.");
  await threadsOf(gateway);
  const fork = agentWithId(gateway, "fork-0002", origin);
  await fork.say("Try it without the cache.");
  await fork.say("And write a test.");
  await origin.say("Go on here.");
  const [forked, first] = await threadsOf(gateway, "main");
  expect(forked).toMatchObject({ parent: first?.id, relation: "fork", title: first?.title });
  const shared = ["user|Find the bug in the parser.", "assistant|Reply number 1."];
  expect((await lineOfThread(gateway, forked?.id)).slice(0, 5)).toEqual([
    ...shared,
    "user|Now fix it, please.",
    "assistant|Reply number 2.",
    "user|Try it without the cache.",
  ]);
  expect(await lineOfThread(gateway, first?.id)).toHaveLength(6);
  expect(await logOf(await gateway.kernel.session(forked?.id))).toHaveLength(4);
  const api = await ApiClient.open(gateway);
  const children = await api.get(`/sessions/${encodeURIComponent(first?.id ?? "")}/children`);
  expect(children.body).toMatchObject({ sessions: [{ id: forked?.id, relation: "fork" }] });
  await gateway.close();
  const { stdout } = await runHere(["sessions", "--store", gateway.path], { columns: 100 });
  expect(stdout).toMatch(/⑂ Find the bug/);
  // After a restart both ids continue with their own conversation.
  const second = await startGateway({ upstream: upstream.url, path: gateway.path });
  for (const agent of [origin, fork]) {
    agent.gateway = second;
    await agent.say("Summarize.");
  }
  expect(await threadsOf(second, "main")).toHaveLength(2);
  expect(await lineOfThread(second, forked?.id)).toHaveLength(10);
  expect(await lineOfThread(second, first?.id)).toHaveLength(8);
});

test("a copy without the newest messages becomes a fork at the last message that it has", async () => {
  const { gateway } = await world();
  const origin = agentWithId(gateway, "origin-0001");
  await origin.say("Find the bug in the parser.");
  await threadsOf(gateway);
  const fork = agentWithId(gateway, "fork-0002", origin);
  await origin.say("Now fix it, please.");
  await fork.say("Another way, please.");
  const [forked, first] = await threadsOf(gateway, "main");
  expect(forked?.parent).toBe(first?.id);
  expect(await lineOfThread(gateway, forked?.id)).toHaveLength(4);
  expect(await lineOfThread(gateway, first?.id)).toHaveLength(4);
});

test("conversations that begin with the same written examples are not forks of each other", async () => {
  const { gateway } = await world();
  for (const id of ["program-0001", "program-0002"]) {
    const agent = agentWithId(gateway, id);
    agent.elements = [
      { role: "user", content: "Is seven a prime number?" },
      { role: "assistant", content: "Yes." },
    ];
    await agent.say(`Is ${id.at(-1)} a prime number?`);
    await threadsOf(gateway);
  }
  const threads = await threadsOf(gateway, "main");
  expect(threads.map(({ parent }) => parent)).toEqual([undefined, undefined]);
});
