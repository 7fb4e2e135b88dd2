import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";
import { lineOfThread } from "./only-line.ts";
import { textsIn } from "./said.ts";

/** Ways in which clients store their prefill and the model's continuation. */
const KEPT: Readonly<Record<string, (begun: string, reply: string) => readonly WireObject[]>> = {
  "as one text": (begun, reply) => [{ role: "assistant", content: begun + reply }],
  "as one text without white space between": (begun, reply) => [
    { role: "assistant", content: begun + reply.trim() },
  ],
  "as one text in a block": (begun, reply) => [
    { role: "assistant", content: [{ type: "text", text: begun + reply }] },
  ],
  "as two blocks of one message": (begun, reply) => [
    { role: "assistant", content: [begun, reply].map((text) => ({ type: "text", text })) },
  ],
  "as two messages": (begun, reply) => [begun, reply].map((content) => ({ role: "assistant", content })),
};

async function world() {
  const upstream = await startUpstream(says((_, index) => ({ text: ` reply ${index + 1}, and no more.` })));
  return { upstream, gateway: await startGateway({ upstream: upstream.url }) };
}

/** Sends a request with a prefill, and stores both as a client does. */
async function ask(agent: TestAgent, text: string, begun: string, keep: (typeof KEPT)[string]) {
  agent.elements.push({ role: "user", content: text });
  const asked = [...agent.elements];
  agent.elements.push({ role: "assistant", content: begun });
  const { text: reply } = await agent.next();
  agent.elements = [...asked, ...keep(begun, reply)];
}

async function logOfMain(gateway: TestGateway) {
  const mains = await threadsOf(gateway, "main");
  expect(mains).toHaveLength(1);
  const [main] = mains;
  const log = await logOf(await gateway.kernel.session(main?.id));
  const line = await lineOfThread(gateway, main?.id);
  expect(log.map(({ message }) => textsIn(message))).toEqual(line);
  return line;
}

const WHOLE = [1, 2, 3].flatMap((turn) => [
  `user|Question ${turn}.`,
  `assistant|Begun ${turn}:`,
  `assistant| reply ${turn}, and no more.`,
]);

describe.each(["anthropic", "openai-chat"] as const)("a reply that the client begins over %s", (api) => {
  test.each(Object.keys(KEPT))("a client that begins replies and keeps %s has one session", async (form) => {
    const { upstream, gateway } = await world();
    const agent = new TestAgent(gateway, api);
    for (const turn of [1, 2, 3])
      await ask(agent, `Question ${turn}.`, `Begun ${turn}:`, KEPT[form] as never);
    expect(await logOfMain(gateway)).toEqual(WHOLE);
    for (const [index, { json }] of upstream.heard.entries())
      expect(json.messages.filter(({ role }: WireObject) => role === "user")).toHaveLength(index + 1);
    expect(upstream.heard.at(-1)?.json.messages.slice(0, -1)).toEqual(
      agent.elements.slice(0, upstream.heard.at(-1)?.json.messages.length - 1),
    );
  });

  test("a conversation whose replies the client begins goes on after a restart", async () => {
    const { upstream, gateway } = await world();
    const agent = new TestAgent(gateway, api);
    const keep = KEPT["as one text"] as (typeof KEPT)[string];
    for (const turn of [1, 2]) await ask(agent, `Question ${turn}.`, `Begun ${turn}:`, keep);
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const later = new TestAgent(second, api);
    later.elements = [...agent.elements];
    await ask(later, "Question 3.", "Begun 3:", keep);
    expect(await logOfMain(second)).toEqual(WHOLE);
  });

  test("a reply that the client continues until it is complete stays in one session", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway, api);
    let { text } = await agent.say("Write a long story.");
    for (const _ of [2, 3]) {
      agent.elements = [...agent.elements.slice(0, 1), { role: "assistant", content: text }];
      text += (await agent.next()).text;
    }
    agent.elements = [...agent.elements.slice(0, 1), { role: "assistant", content: text }];
    await agent.say("Thank you.");
    expect(await logOfMain(gateway)).toEqual([
      "user|Write a long story.",
      ...[1, 2, 3].map((part) => `assistant| reply ${part}, and no more.`),
      "user|Thank you.",
      "assistant| reply 4, and no more.",
    ]);
  });

  proofTest("an edited window never separates the two parts of a reply that the client began", async () => {
    const window = 32_000;
    const { upstream } = await world();
    const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window }];
    const gateway = await startGateway({ upstream: upstreams });
    const agent = new TestAgent(gateway, api);
    const keep = KEPT["as one text"] as (typeof KEPT)[string];
    const turns = Array.from({ length: 40 }, (_, at) => at + 1);
    for (const turn of turns)
      await ask(agent, `Question ${turn}. ${output(turn, 5_000)}`, `Begun ${turn}:`, keep);
    const whole = new Set(agent.elements.map(({ content }) => content as string));
    for (const { body, json } of upstream.heard) {
      expect(body.length / 4).toBeLessThan(window);
      const said = json.messages.filter(({ role }: WireObject) => role === "assistant").slice(0, -1);
      // Adjacent replies are merged into one message when the messages in between have left.
      for (const { content } of said)
        for (const reply of content.split("\n\n")) expect(whole).toContain(reply);
    }
    expect(upstream.heard.at(-1)?.json.messages.length).toBeLessThan(agent.elements.length);
    expect(await logOfMain(gateway)).toHaveLength(3 * turns.length);
  });

  test("two conversations that begin alike stay apart even if the client begins the replies", async () => {
    const { gateway } = await world();
    const agents = [new TestAgent(gateway, api), new TestAgent(gateway, api)];
    const keep = KEPT["as one text"] as (typeof KEPT)[string];
    for (const turn of [1, 2, 3])
      for (const agent of agents) await ask(agent, `Question ${turn}.`, "{", keep);
    const mains = await threadsOf(gateway, "main");
    const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
    expect(lines.map((line) => line.length)).toEqual([9, 9]);
  });
});
