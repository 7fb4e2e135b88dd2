import { describe, expect, test } from "vitest";
import type { Session } from "../../../src/kernel/index.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { says, startUpstream } from "../../support/upstream.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

const long = (number: number) =>
  `Step ${number}: the table orders_${number} gets a column. ${"It was discussed at length. ".repeat(40)}`;

/** The session of the only conversation. */
async function sessionOf(gateway: TestGateway): Promise<Session> {
  const [record] = await threadsOf(gateway);
  return gateway.kernel.session(record?.id ?? "");
}

async function summariesOf(gateway: TestGateway): Promise<number> {
  const overlays = await (await sessionOf(gateway)).overlays.list();
  return overlays.filter(({ entry }) => entry.summary !== undefined).length;
}

async function chat(api: (typeof APIS)[number], turns = 12) {
  const upstream = await startUpstream(says("Fine, that is done."));
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, api);
  for (let number = 0; number < turns; number++) await agent.say(long(number));
  const lastBytes = () => upstream.heard.at(-1)?.body.toString() ?? "";
  return { upstream, gateway, agent, lastBytes };
}

describe("/compact typed in a chat", () => {
  sizedTest.each(proofCases(APIS))(
    "/compact typed in a chat compacts the conversation before the call, and the log keeps the command: %s",
    async (api) => {
      const { gateway, agent, lastBytes } = await chat(api);
      const before = lastBytes().length;
      await agent.say("/compact keep the name orders_3");
      const sent = lastBytes();
      expect(sent.length).toBeLessThan(before / 2);
      expect(sent).toContain("orders_3");
      expect(sent).toContain("one short sentence");
      expect(sent).toContain("Step 0");

      const messages = await logOf(await sessionOf(gateway));
      expect(JSON.stringify(messages)).toContain('"/compact keep the name orders_3"');
      expect(await summariesOf(gateway)).toBe(1);

      // The next turn continues from the summary, and the command is not executed again.
      await agent.say("What is next?");
      expect(lastBytes().length).toBeLessThan(before / 2);
      expect(lastBytes()).toContain("What is next?");
      expect(await summariesOf(gateway)).toBe(1);
    },
  );

  test("/compact is carried out once when the same request is repeated", async () => {
    const { gateway, agent } = await chat("anthropic");
    agent.elements.push({ role: "user", content: "/compact" });
    await agent.send();
    await agent.send();
    expect(await summariesOf(gateway)).toBe(1);
  });

  test.each([
    "Please explain this:\n/compact",
    "/compact summarizes the conversation.\nThat is what the manual says.",
    "> /compact",
    "/compactor",
  ])("a message that says %j does not compact the conversation", async (text) => {
    const { gateway, agent, lastBytes } = await chat("anthropic", 4);
    await agent.say(text);
    expect(JSON.parse(lastBytes()).messages).toHaveLength(9);
    expect(await (await sessionOf(gateway)).overlays.list()).toEqual([]);
  });

  test("/compact tells the model when there was nothing to compact", async () => {
    const { agent, lastBytes } = await chat("anthropic", 0);
    await agent.say("/compact");
    expect(lastBytes()).toContain("There was nothing to compact.");
  });

  test("/compact is sent on as typed when edits are off", async () => {
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({ upstream: upstream.url, config: { policy: "none" } });
    const agent = new TestAgent(gateway);
    for (let number = 0; number < 4; number++) await agent.say(long(number));
    await agent.say("/compact");
    expect(upstream.heard.at(-1)?.body.toString()).toContain('"/compact"');
  });
});
