import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateText } from "../../../../src/kernel/faces/window.ts";
import { trimRecallResults } from "../../../../src/server/gateway/reply/rounds/call-rounds.ts";
import { startGateway } from "../../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../../support/proof.ts";
import { behave, says, startUpstream } from "../../../support/upstream.ts";
import { output, startLimitedUpstream } from "../limited.ts";
import { elementsOf, recalls, talk, userSays, WAYS } from "./talk.ts";

const FACT = "The staging server listens on port 7781.";
const QUESTION = "Which port did we say the staging server listens on?";
const BOTH = { recall: { tools: true, context: true } };

const upstreamOf = (baseUrl: string, window: number) => [
  { name: "small", baseUrl, apis: ["anthropic", "openai-chat", "openai-responses"], window },
];

describe("results of longhaul's own tools", () => {
  test("results of longhaul's own tools stay within the available space, down to a short note each", () => {
    const call = { id: "a", name: "longhaul_recall", input: {} };
    const answer = fc.string({ unit: "grapheme", maxLength: 5_000 }).map((text) => ({ call, text }));
    fc.assert(
      fc.property(
        fc.array(answer, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: -500, max: 8_000 }),
        (answers, room) => {
          const within = trimRecallResults(answers, room);
          expect(within).toHaveLength(answers.length);
          const tokens = within.reduce((sum, { text }) => sum + estimateText(text), 0);
          expect(tokens).toBeLessThanOrEqual(Math.max(room, 60 * answers.length));
        },
      ),
    );
  });

  test("results of longhaul's own tools stay whole if there is enough space", () => {
    const answers = [{ call: { id: "a", name: "longhaul_recall", input: {} }, text: "short" }];
    expect(trimRecallResults(answers, 1_000)).toEqual(answers);
    expect(trimRecallResults(answers, Number.POSITIVE_INFINITY)).toEqual(answers);
    expect(trimRecallResults(answers, 0)[0]?.text).toContain("no room");
  });
});

describe("recall in a window that is nearly full", () => {
  proofTest("recalls never make a request too long, and never cut the newest message", async () => {
    const window = 12_000;
    let asked = 0;
    const upstream = await startLimitedUpstream({
      api: "anthropic",
      window,
      count: (body) => Math.ceil(body.length / 4),
      reply: () =>
        asked++ % 3 === 1
          ? recalls("staging server port", "Looking.", `call_${asked}`)
          : { text: `Read ${asked}.` },
      isAtOnce: true,
    });
    const gateway = await startGateway({ upstream: upstreamOf(upstream.url, window), config: BOTH });
    const talker = { gateway, api: "anthropic", isStreamed: true } as const;
    await talk(talker, [userSays(FACT)]);
    const said = [userSays("Read what I paste.")];
    for (let turn = 0; turn < 40; turn++) {
      said.push(userSays(turn % 4 === 0 ? `${QUESTION} (${turn})` : output(turn, 1_500 + 97 * turn)));
      const before = upstream.heard.length;
      said.push(...(await talk(talker, said)).elements);
      const sent = upstream.heard[before]?.body.toString() ?? "";
      const last = JSON.stringify(said.at(-2)?.content).slice(1, -1);
      expect(sent).toContain(last.slice(0, 200));
      expect(sent).toContain(last.slice(-200));
    }
    expect(upstream.refused()).toBe(0);
    expect(upstream.heard.filter(({ body }) => body.includes("<context mark=")).length).toBeGreaterThan(0);
    expect(upstream.heard.filter(({ body }) => body.includes("memory-data")).length).toBeGreaterThan(0);
  });

  test("recall tools are left out if they would take much of the window", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstreamOf(upstream.url, 3_000), config: BOTH });
    await talk({ gateway, api: "anthropic", isStreamed: false }, [userSays("Hello there.")]);
    expect(upstream.heard[0]?.json.tools).toHaveLength(1);
  });
});

describe.each(proofCases(WAYS))(
  "a request of %s, streamed: %s, that is too long with what is recalled",
  (api, isStreamed) => {
    sizedTest.each(["longhaul", "none"])(
      "a request that recalls made too long is repeated without recalls and with all of the client's words, policy %s",
      async (policy) => {
        const upstream = await startUpstream((heard, response, index) => {
          const isTooLong = heard.body.includes("<context mark=") || heard.body.includes("longhaul_recall");
          if (index > 0 && isTooLong) behave(heard, response, { type: "error", kind: "overflow" });
          else says("Fine.")(heard, response, index);
        });
        const gateway = await startGateway({ upstream: upstream.url, config: { ...BOTH, policy } });
        const talker = { gateway, api, isStreamed };
        await talk(talker, [userSays(FACT)]);
        const seen = await talk(talker, [userSays(QUESTION)]);
        expect(seen.texts).toEqual(["Fine."]);
        expect(upstream.heard).toHaveLength(3);
        const [, full, bare] = upstream.heard;
        expect(JSON.stringify(full && elementsOf(full))).toContain("<context mark=");
        expect(bare && elementsOf(bare)).toEqual([userSays(QUESTION)]);
        expect(bare?.json.tools).toHaveLength(1);
      },
    );
  },
);
