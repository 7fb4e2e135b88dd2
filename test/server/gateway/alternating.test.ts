import { describe, expect } from "vitest";
import { findRepeatedRoles } from "../../../src/server/gateway/outgoing/check-rules.ts";
import type { WireName, WireObject } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { expectWholeLog, working } from "./long-session.ts";

const WINDOW = 16_000;
const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

/** A gateway in front of a model with a small window. */
async function smallModel(
  api: Exclude<WireName, "google">,
  reply: Parameters<typeof startLimitedUpstream>[0]["reply"],
  policy: string,
) {
  const count = (body: Buffer) => Math.ceil(body.length / 4);
  const upstream = await startLimitedUpstream({ api, window: WINDOW, count, reply });
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: WINDOW }];
  const gateway = await startGateway({ upstream: upstreams, config: { policy } });
  return { upstream, gateway, agent: new TestAgent(gateway, api) };
}

describe.each(proofCases(APIS))("requests over %s", (api) => {
  sizedTest.each(proofCases(["longhaul", "cline", "roo"]))(
    "requests alternate roles after policy %s has edited them",
    async (policy) => {
      const reply = (turn: number) =>
        turn % 4 < 2
          ? { ...working(turn), reasoning: "" }
          : { text: `Reply ${turn}. ${output(turn, 1_500)}` };
      const { upstream, gateway, agent } = await smallModel(api, reply, policy);
      let last = await agent.say("Let us talk about the project.");
      for (let turn = 1; turn < 50; turn++)
        last =
          last.calls.length > 0
            ? await agent.hand(last.calls, output(turn, 2_000))
            : await agent.say(`Message ${turn}. ${output(turn + 1_000, 1_000)}`);
      await expectWholeLog(gateway, agent, api);
      const sent = upstream.heard.map(
        ({ json }) => json[getWire(api).messagesField] as readonly WireObject[],
      );
      expect(sent.at(-1)?.length).toBeLessThan(agent.elements.length);
      for (const elements of sent) {
        expect(findRepeatedRoles(api, elements)).toEqual([]);
        expect(elements.find(({ role }) => role !== "system" && role !== "developer")?.role).toBe("user");
      }
    },
  );
});
