import { describe, expect } from "vitest";
import type { WireName, WireObject } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { output, startLimitedUpstream } from "./limited.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

const WINDOW = 16_000;
const MARK = "ENVIRONMENT";

/** Instructions as clients of each API place them among the messages. */
const INSTRUCTIONS: Readonly<Record<OlderWireName, (text: string) => WireObject>> = {
  anthropic: (text) => ({ role: "system", content: text }),
  "openai-chat": (text) => ({ role: "developer", content: text }),
  "openai-responses": (text) => ({
    type: "message",
    role: "developer",
    content: [{ type: "input_text", text }],
  }),
};

/** Items of the Responses API that change tools or settings from their place on. */
const SETTINGS: readonly WireObject[] = [
  {
    type: "additional_tools",
    role: "developer",
    tools: [{ type: "function", name: "search_web", parameters: { type: "object", properties: {} } }],
  },
  { type: "configuration_update", reasoning: { effort: "high" } },
];

sizedTest.each(proofCases(["longhaul", "cline", "roo", "openclaw"]))(
  "items of the Responses API that add tools or change settings stay under %s",
  async (policy) => {
    const api = "openai-responses";
    const upstream = await startLimitedUpstream({
      api,
      window: WINDOW,
      count: (body) => Math.ceil(body.length / 4),
      reply: (turn) => ({ text: `Reply ${turn}. ${output(turn, 1_500)}` }),
    });
    const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: WINDOW }] as const;
    const gateway = await startGateway({ upstream: [...upstreams], config: { policy } });
    const agent = new TestAgent(gateway, api);
    for (let turn = 0; turn < 30; turn++) {
      agent.elements.push(...agent.words(`Message ${turn}. ${output(turn + 1_000, 1_000)}`));
      // Next to a reply, where they are no part of it.
      if (turn === 3) agent.elements.push(...SETTINGS);
      await agent.next();
    }
    const sent = upstream.heard.at(-1)?.json[getWire(api).messagesField] as readonly WireObject[];
    expect(sent.length).toBeLessThan(agent.elements.length);
    expect(sent.filter(({ type }) => SETTINGS.some((one) => one.type === type))).toEqual(SETTINGS);
  },
);

describe.each(proofCases(["anthropic", "openai-chat", "openai-responses"] as const))(
  "system messages over %s",
  (api) => {
    sizedTest.each(proofCases(["longhaul", "cline", "roo", "openclaw"]))(
      "system messages between others are sent unchanged under %s, and never as the user's",
      async (policy) => {
        const upstream = await startLimitedUpstream({
          api,
          window: WINDOW,
          count: (body) => Math.ceil(body.length / 4),
          reply: (turn) => ({ text: `Reply ${turn}. ${output(turn, 1_500)}` }),
        });
        const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: WINDOW }];
        const gateway = await startGateway({ upstream: upstreams, config: { policy } });
        const agent = new TestAgent(gateway, api);
        const system: WireObject[] = [];
        for (let turn = 0; turn < 30; turn++) {
          if (turn % 5 === 1) {
            system.push(INSTRUCTIONS[api](`${MARK} ${turn}: the folder is project_${turn}.`));
            agent.elements.push(system.at(-1) as WireObject);
          }
          await agent.say(`Message ${turn}. ${output(turn + 1_000, 1_000)}`);
        }
        const sent = upstream.heard.at(-1)?.json[getWire(api).messagesField] as readonly WireObject[];
        expect(sent.length).toBeLessThan(agent.elements.length);
        const marked = sent.filter((element) => JSON.stringify(element).includes(MARK));
        expect(marked).toEqual(system);
        expect(await threadsOf(gateway)).toHaveLength(1);
      },
    );
  },
);
