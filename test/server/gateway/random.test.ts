import { describe, expect } from "vitest";
import { getWire } from "../../../src/wire/wires.ts";
import { logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { startLimitedUpstream } from "./limited.ts";
import { anyReply, numbersFrom, RandomAgent } from "./random-agent.ts";
import { textsIn } from "./said.ts";

const SEEDS = [4, 1, 2, 3, 5, 6];
const TURNS = 40;
const WINDOW = 24_000;

describe("an agent with habits", () => {
  sizedTest.each(proofCases(SEEDS))("a random agent works on within a small window (%i)", async (seed) => {
    const random = numbersFrom(seed + 1_000);
    const upstream = await startLimitedUpstream({
      api: "anthropic",
      window: WINDOW,
      count: (body) => Math.ceil(body.length / 4),
      reply: (index) => anyReply(random, index),
    });
    const upstreams = [{ name: "small", baseUrl: upstream.url, apis: ["anthropic"], window: WINDOW }];
    const gateway = await startGateway({ upstream: upstreams });
    const agent = new RandomAgent(gateway, seed);
    for (let turn = 0; turn < TURNS; turn++) await agent.step();
    const mains = await threadsOf(gateway);
    expect(mains.map(({ id }) => id)).toHaveLength(1);
    const log = (await logOf(await gateway.kernel.session(mains[0]?.id))).map(({ message }) =>
      textsIn(message),
    );
    const said = getWire("anthropic")
      .decode(agent.elements)
      .map(({ input }) => textsIn(input));
    expect(log.filter((text) => !text.includes("[status]"))).toEqual(said);
  });
});
