import { expect } from "vitest";
import type { WireName } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, proofRounds, sizedTest } from "../../../support/proof.ts";
import { Random } from "../../../support/random.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { promptOf } from "./prompt.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const WINDOW = 24_000;
const SERVERS = ["staging", "billing", "search", "archive", "metrics", "payroll", "catalogue", "gallery"];

/** The edits of the longest conversation that a receipt prices. */
async function countPriced(gateway: TestGateway): Promise<number> {
  const counts = await Promise.all(
    (await threadsOf(gateway, "main")).map(async ({ id }) => {
      await using session = await gateway.kernel.session(id);
      return (await session.overlays.list()).filter(({ entry }) => entry.receipt !== undefined).length;
    }),
  );
  return Math.max(0, ...counts);
}

/** Fills a small window with questions that get context, and returns the turns that changed earlier bytes. */
async function fill(api: WireName, seed: number, turns: number) {
  const random = new Random(seed);
  const upstream = await startUpstream(says((_, index) => ({ text: `Answer ${index}.` })));
  const options = {
    upstream: [{ name: "small", baseUrl: upstream.url, apis: [api], window: WINDOW }],
    config: { recall: { context: true, offer: "never" } },
  };
  let gateway = await startGateway(options);
  const { path } = gateway;
  for (const name of SERVERS) {
    const rows = Array.from({ length: 12 }, (_, row) => `The ${name} server keeps ledger ${row} of ${name}.`);
    await new TestAgent(gateway, api).say(`The ${name} server listens on port 77. ${rows.join(" ")}`);
  }
  const agent = new TestAgent(gateway, api);
  const changed: string[] = [];
  let [before, priced, shown, edits] = ["", 0, 0, 0];
  for (let turn = 0; turn < turns; turn++) {
    if (random.chance(0.1)) {
      await gateway.close();
      gateway = await startGateway({ ...options, path });
      agent.gateway = gateway;
    }
    const name = random.pick(SERVERS);
    await agent.say(
      random.chance(0.5)
        ? `Which port did we say the ${name} server listens on? (${turn})`
        : `Step ${turn}: ${"go through this part of the plan. ".repeat(random.below(150))}`,
    );
    const prompt = promptOf(upstream.heard.at(-1) as Heard);
    const now = await countPriced(gateway);
    if (!prompt.startsWith(before)) {
      edits++;
      if (now === priced) changed.push(`seed ${seed}, turn ${turn}`);
    }
    shown = Math.max(shown, prompt.split("<context").length - 1);
    [before, priced] = [prompt, now];
  }
  return { changed, shown, edits };
}

sizedTest.each(proofCases(APIS))(
  "context in a window of %s that fills changes no byte before the newest message, except by an edit with a receipt",
  async (api) => {
    for (let seed = 1; seed <= proofRounds(2, 1); seed++) {
      const { changed, shown, edits } = await fill(api, seed, 80);
      expect(changed).toEqual([]);
      expect(shown).toBeGreaterThan(3);
      expect(edits).toBeGreaterThan(0);
    }
  },
);
