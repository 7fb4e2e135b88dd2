import { describe, expect } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { lineOf, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { startLimitedUpstream } from "./limited.ts";
import { anyReply, numbersFrom, RandomAgent } from "./random-agent.ts";
import { textsIn } from "./said.ts";

const SEEDS = [4, 1, 2, 3, 5, 6];
const TURNS = 40;
const WINDOW = 24_000;

/** The configuration of a provider that gives random replies and refuses requests above a small window. */
async function startSmallUpstream(seed: number) {
  const random = numbersFrom(seed + 1_000);
  const { url } = await startLimitedUpstream({
    api: "anthropic",
    window: WINDOW,
    count: (body) => Math.ceil(body.length / 4),
    reply: (index) => anyReply(random, index),
  });
  return [{ name: "small", baseUrl: url, apis: ["anthropic"], window: WINDOW }];
}

const textsOf = (elements: readonly WireObject[]) =>
  getWire("anthropic")
    .decode(elements)
    .map(({ input }) => textsIn(input));

/** True for an element with words of the user and without results. */
const isRequest = ({ role, content }: WireObject) =>
  role === "user" && !JSON.stringify(content).includes('"tool_result"');

describe("an agent with habits", () => {
  const worksOn = async (seed: number) => {
    const gateway = await startGateway({ upstream: await startSmallUpstream(seed) });
    const agent = new RandomAgent(gateway, seed);
    // An agent that takes a message back may not work with a model that binds its thinking to it.
    if (!agent.hasTail) agent.fields.model = "claude-opus-5-5";
    for (let turn = 0; turn < TURNS; turn++) await agent.step();
    const mains = await threadsOf(gateway);
    expect(mains.map(({ id }) => id)).toHaveLength(1);
    const log = (await logOf(await gateway.kernel.session(mains[0]?.id))).map(({ message }) =>
      textsIn(message),
    );
    expect(log.filter((text) => !text.includes("[status]"))).toEqual(textsOf(agent.elements));
  };
  for (const seed of proofCases(SEEDS)) {
    sizedTest(`a random agent works on within a small window (${seed})`, () => worksOn(seed));
  }

  sizedTest.each(proofCases(SEEDS))(
    "a random agent that compacts by itself and keeps its last turns has each message once in the log (%i)",
    async (seed) => {
      const random = numbersFrom(seed + 77);
      const upstream = await startSmallUpstream(seed);
      let gateway = await startGateway({ upstream });
      const agent = new RandomAgent(gateway, seed);
      agent.headers["x-longhaul-session"] = "compacting";
      const said = new Set<string>();
      for (let turn = 0; turn < TURNS; turn++) {
        await agent.step();
        for (const text of textsOf(agent.elements)) said.add(text);
        const turns = agent.elements.flatMap((element, at) => (at > 3 && isRequest(element) ? [at] : []));
        const isOpen = JSON.stringify(agent.elements.at(-1)).includes('"tool_use"');
        if (!isOpen && turns.length > 0 && random(3) === 0) {
          const text = `<state_snapshot>Turn ${turn}. ${"Files were read and tests were run. ".repeat(12)}</state_snapshot>`;
          const summary = [
            { role: "user", content: text },
            { role: "assistant", content: "Got it. Thanks for the context!" },
          ];
          agent.elements = [...summary, ...agent.elements.slice(turns[random(turns.length)])];
        }
        if (random(6) > 0) continue;
        await gateway.close();
        gateway = await startGateway({ upstream, path: gateway.path });
        agent.gateway = gateway;
      }
      const [main] = await threadsOf(gateway);
      const session = await gateway.kernel.session(main?.id);
      const withoutTails = (entries: Awaited<ReturnType<typeof logOf>>) =>
        entries.map(({ message }) => textsIn(message)).filter((text) => !text.includes("[status]"));
      expect(withoutTails(await lineOf(session))).toEqual(textsOf(agent.elements));
      const log = withoutTails(await logOf(session));
      expect(log.toSorted()).toEqual([...new Set([...log, ...said])].toSorted());
    },
  );
});
