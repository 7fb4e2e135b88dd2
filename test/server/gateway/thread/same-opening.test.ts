import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { quiet, startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";
import { lineOfThread } from "../only-line.ts";

/** Replies with the number of the request, so that no two replies are the same. */
const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

test("many conversations that begin with the same words go on after a restart", async () => {
  const upstream = await startUpstream(numbered);
  const first = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 40 }, () => new TestAgent(first));
  for (const agent of agents) await agent.say("Hello");
  expect(await threadsOf(first, "main")).toHaveLength(40);
  await first.close();
  const second = await startGateway({ upstream: upstream.url, path: first.path });
  const newcomer = new TestAgent(second);
  await newcomer.say("Hello");
  expect(await threadsOf(second, "main")).toHaveLength(41);
  for (const agent of agents) {
    agent.gateway = second;
    await agent.say("Go on.");
  }
  expect(await threadsOf(second, "main")).toHaveLength(41);
});

test("no conversation is rewound by a request that may belong to another with the same beginning", async () => {
  const upstream = await startUpstream((heard, response, index) =>
    (heard.json.messages.length === 1 ? says(() => ({ text: "Hello to you." })) : numbered)(
      heard,
      response,
      index,
    ),
  );
  const gateway = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 3 }, () => new TestAgent(gateway));
  for (const agent of agents) await agent.say("Hello");
  for (const [index, agent] of agents.entries()) await agent.say(`I am number ${index}.`);
  const [editing, ...others] = agents as [TestAgent, ...TestAgent[]];
  editing.elements = editing.elements.slice(0, 2);
  await editing.say("I am somebody else.");
  for (const [index, agent] of others.entries()) await agent.say(`Still number ${index + 1}.`);
  await editing.say("And still somebody else.");
  const mains = await threadsOf(gateway, "main");
  const lines = await Promise.all(
    mains.map(async ({ id }) => JSON.stringify(await lineOfThread(gateway, id))),
  );
  for (const line of lines)
    expect(
      ["number 0", "number 1", "number 2", "somebody else"].filter(
        (name) => line.includes(`am ${name}`) || line.includes(`till ${name}`),
      ).length,
    ).toBe(1);
});

/** The number of conversations that a gateway holds in memory. */
async function countOpenThreads(gateway: TestGateway): Promise<number> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^longhaul_open_threads (\d+)$/m.exec(metrics)?.[1]);
}

proofTest(
  "idle conversations leave memory while another conversation with equal first words is in use",
  async () => {
    const held: (() => void)[] = [];
    const upstream = await startUpstream((heard, response, index) => {
      if (!heard.body.includes("Wait.")) return numbered(heard, response, index);
      held.push(() => numbered(heard, response, index));
    });
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { maxThreads: 4 } } });
    const slow = new TestAgent(gateway);
    await slow.say("Hello");
    const waiting = slow.say("Wait.");
    const agents = Array.from({ length: 12 }, () => new TestAgent(gateway));
    for (const agent of agents) await agent.say("Hello");
    for (let turn = 1; turn <= 3; turn++)
      for (const agent of agents) {
        await agent.say(`Turn ${turn}.`);
        expect(await countOpenThreads(gateway)).toBeLessThanOrEqual(5);
      }
    for (const answer of held) answer();
    await waiting;
    await quiet(gateway);
    const mains = await threadsOf(gateway, "main");
    expect(mains).toHaveLength(13);
    const lengths = await Promise.all(mains.map(async ({ id }) => (await lineOfThread(gateway, id)).length));
    expect(lengths.toSorted((one, other) => one - other)).toEqual([4, ...Array(12).fill(8)]);
  },
);

test("a conversation that was deleted after leaving memory begins again with its whole history", async () => {
  const held: (() => void)[] = [];
  const upstream = await startUpstream((heard, response, index) => {
    if (!heard.body.includes("Wait.")) return numbered(heard, response, index);
    held.push(() => numbered(heard, response, index));
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { limits: { maxThreads: 2 } } });
  const deleted = new TestAgent(gateway);
  await deleted.say("Hello");
  await quiet(gateway);
  const [first] = await threadsOf(gateway, "main");
  const slow = new TestAgent(gateway);
  await slow.say("Hello");
  const waiting = slow.say("Wait.");
  for (let count = 0; count < 4; count++) await new TestAgent(gateway).say("Hello");
  await gateway.kernel.deleteSession(first?.id ?? "");
  await deleted.say("Go on.");
  for (const answer of held) answer();
  await waiting;
  await quiet(gateway);
  const mains = await threadsOf(gateway, "main");
  expect(mains).toHaveLength(6);
  const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
  expect(lines.filter((line) => line.includes("user|Go on."))).toEqual([
    ["user|Hello", "assistant|Reply number 1.", "user|Go on.", "assistant|Reply number 8."],
  ]);
});

test("conversations with the same first words and last reply stay apart", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 6 }, () => new TestAgent(gateway));
  for (const agent of agents) await agent.say("Hello");
  for (const [at, agent] of agents.entries()) await agent.say(`I am number ${at}.`);
  for (const [at, agent] of agents.toReversed().entries()) await agent.say(`From the end, ${at}.`);
  await quiet(gateway);
  const mains = await threadsOf(gateway, "main");
  expect(mains).toHaveLength(6);
  const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
  const said = lines.map((line) =>
    line
      .filter((text) => text.startsWith("user|"))
      .slice(1)
      .join(" "),
  );
  const expected = agents.map((_, at) => `user|I am number ${at}. user|From the end, ${5 - at}.`);
  expect(said.toSorted()).toEqual(expected);
});
