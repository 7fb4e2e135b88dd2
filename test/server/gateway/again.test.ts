import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, type Heard, startUpstream } from "../../support/upstream.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { working, workOn } from "./long-session.ts";
import { onlyLine } from "./only-line.ts";

const WINDOW = 32_000;
const API = "anthropic";
const WORK = { api: API, turns: 40, characters: 5_000, clientWindow: 200_000 } as const;
const byBytes = (body: Buffer) => Math.ceil(body.length / 4);

/** An agent in the middle of long work with an edited window, and its upstream. */
async function longAtWork() {
  const upstream = await startLimitedUpstream({
    api: API,
    window: WINDOW,
    count: byBytes,
    reply: working,
    isAtOnce: true,
  });
  const gateway = await startGateway({
    upstream: [{ name: "small", baseUrl: upstream.url, apis: [API], window: WINDOW }],
  });
  const agent = await workOn(gateway, WORK);
  agent.elements = agent.elements.slice(0, -1);
  return { upstream, gateway, agent };
}

const overlaysOf = async (gateway: TestGateway) => {
  const [main] = await threadsOf(gateway);
  return (await gateway.kernel.session(main?.id)).overlays.list();
};

const bodyOf = ({ body }: Heard | undefined = { body: Buffer.alloc(0) } as Heard) => body.toString();

describe("a repeated request", () => {
  proofTest("a repeated request goes out with the same bytes and makes no further plan", async () => {
    const { upstream, gateway, agent } = await longAtWork();
    const before = bodyOf(upstream.heard.at(-1));
    const overlays = (await overlaysOf(gateway)).length;
    expect(before).not.toBe(JSON.stringify(agent.body()));
    for (let round = 0; round < 3; round++) {
      expect((await agent.send()).status).toBe(200);
      expect(bodyOf(upstream.heard.at(-1))).toBe(before);
    }
    expect((await overlaysOf(gateway)).length).toBe(overlays);
  });

  proofTest("every answer to a repeated request is kept, and the last answer goes on", async () => {
    const { gateway, agent, upstream } = await longAtWork();
    const first = await agent.send();
    const { calls } = await agent.next();
    await agent.hand(calls, "nothing more");
    expect(await onlyLine(gateway)).toHaveLength(agent.elements.length);
    const [main] = await threadsOf(gateway);
    const said = JSON.stringify(await logOf(await gateway.kernel.session(main?.id)));
    for (const call of agent.read(first.text).calls) expect(said).toContain(call.id);
    expect(upstream.refused()).toBe(0);
  });

  proofTest("a repeated request gets a new plan after its edit was reverted", async () => {
    let isDown = true;
    const upstream = await startUpstream((heard, response) =>
      behave(
        heard,
        response,
        isDown ? { type: "error", kind: "overloaded" } : { type: "reply", reply: { text: "Done." } },
      ),
    );
    const gateway = await startGateway({
      upstream: [{ name: "small", baseUrl: upstream.url, apis: [API], window: WINDOW }],
    });
    const agent = new TestAgent(gateway, API);
    agent.elements = Array.from({ length: 41 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: `${at}: ${output(at, 5_000)}`,
    }));
    expect((await agent.send()).status).toBe(529);
    const [main] = await threadsOf(gateway);
    const session = await gateway.kernel.session(main?.id);
    const plans = await session.overlays.list();
    expect((await agent.send()).status).toBe(529);
    expect(await session.overlays.list()).toHaveLength(plans.length);
    const plan = plans.find(({ entry }) => entry.edit.type === "plan" && entry.edit.isWhole);
    await session.overlays.revert(plan?.entry.seq ?? 0);
    isDown = false;
    expect((await agent.send()).status).toBe(200);
    const authors = (await session.overlays.list()).map(({ entry }) => entry.author);
    expect(authors.slice(0, 2)).toEqual(["longhaul", "user"]);
  });

  proofTest("a repeated request is healed when the provider now accepts fewer tokens", async () => {
    let isSmaller = false;
    const upstream = await startLimitedUpstream({
      api: API,
      window: WINDOW,
      count: (body) => body.length / (isSmaller ? 2 : 4),
      reply: working,
      isAtOnce: true,
    });
    const gateway = await startGateway({
      // A healed edit is the first one here: the request after it would gain tools.
      config: { recall: "off" },
      upstream: [{ name: "small", baseUrl: upstream.url, apis: [API], window: WINDOW }],
    });
    const agent = await workOn(gateway, WORK);
    agent.elements = agent.elements.slice(0, -1);
    isSmaller = true;
    const refused = upstream.refused();
    expect((await agent.send()).status).toBe(200);
    expect(upstream.refused()).toBeGreaterThan(refused);
    const healed = bodyOf(upstream.heard.at(-1));
    expect((await agent.send()).status).toBe(200);
    expect(bodyOf(upstream.heard.at(-1))).toBe(healed);
  });

  test("24 equal requests at once stay one conversation, with all answers in its log", async () => {
    let asked = 0;
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "reply", reply: { text: `Answer ${asked++}.` } }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    await agent.say("Think of a number.");
    agent.elements.push({ role: "user", content: "Which one was it?" });
    const answers = await Promise.all(Array.from({ length: 24 }, () => agent.send()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await agent.next();
    await agent.say("Thank you.");
    expect(await onlyLine(gateway)).toHaveLength(6);
    const [main] = await threadsOf(gateway);
    const log = JSON.stringify(await logOf(await gateway.kernel.session(main?.id)));
    for (let answer = 0; answer < asked; answer++) expect(log).toContain(`Answer ${answer}.`);
  });
});
