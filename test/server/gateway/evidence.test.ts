import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getWire } from "../../../src/wire/wires.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, proofRounds, sizedTest } from "../../support/proof.ts";
import { behave, startUpstream } from "../../support/upstream.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const FACT =
  "Gladly. The staging database of the heron project listens on port 50432,\nand the vault is blue.";
const NOTE = `${FACT}\n${"The heron project has many more databases, all of them documented elsewhere. ".repeat(25)}`;
const QUESTION = "On which port does the staging database of the heron project listen?";
const SUBJECTS = [
  "gardening",
  "rail travel",
  "sourdough",
  "astronomy",
  "chess",
  "ceramics",
  "sailing",
  "jazz",
];

/** A gateway in front of a model with a window of `window` tokens; `heard` are the bodies it received. */
async function smallModel(
  api: (typeof APIS)[number],
  window: number,
  config: { readonly [setting: string]: unknown } = {},
) {
  const upstream = await startUpstream((heard, response) =>
    behave(heard, response, { type: "reply", reply: { text: "I see." } }),
  );
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window }];
  const gateway = await startGateway({ upstream: upstreams, hasEmbedder: true, config });
  return { upstream, gateway, agent: new TestAgent(gateway, api) };
}

function talk(): { role: string; content: string }[] {
  const said = [
    { role: "user", content: "Hello, let us talk." },
    { role: "assistant", content: NOTE },
  ];
  for (let turn = 0; turn < 60; turn++) {
    const subject = SUBJECTS[turn % SUBJECTS.length];
    said.push({ role: "user", content: `Tell me more about ${subject}, part ${turn}.` });
    const content = `About ${subject}: ${`a remark on ${subject} number ${turn} that goes on. `.repeat(40)}`;
    said.push({ role: "assistant", content });
  }
  return said;
}

const written = (text: string) => JSON.stringify(text).slice(1, -1);

describe.each(proofCases(APIS))("the answer to a question over %s", (api) => {
  sizedTest("the answer to a question reaches the model even after it has left the window", async () => {
    const { upstream, agent } = await smallModel(api, 16_000);
    agent.elements = talk();
    await agent.say(QUESTION);
    const body = upstream.heard.at(-1)?.body.toString() ?? "";
    expect(body.length).toBeLessThan(JSON.stringify(agent.elements).length / 2);
    expect(body).toContain(written(FACT));
    expect(body).toContain(written(QUESTION));
  });

  sizedTest("the answer to a question stays out of the window if paging is off", async () => {
    const { upstream, agent } = await smallModel(api, 16_000, { paging: false });
    agent.elements = talk();
    await agent.say("Let us go on with sailing, please.");
    await agent.say(QUESTION);
    const body = upstream.heard.at(-1)?.body.toString() ?? "";
    expect(body).not.toContain("brought back because");
  });

  sizedTest("a conversation that fits is sent unchanged, however much an edit would save", async () => {
    const { upstream, agent } = await smallModel(api, 200_000);
    agent.elements = talk();
    await agent.say(QUESTION);
    const sent = upstream.heard.at(-1)?.json[getWire(api).messagesField];
    expect(sent).toEqual(agent.elements.slice(0, -1));
  });
});

describe("large messages", () => {
  test("a first message of 560 KB goes out whole in a window of 200,000 tokens", async () => {
    const { upstream, agent } = await smallModel("anthropic", 200_000);
    const first = "The quick brown fox jumps over the lazy dog near the river bank. ".repeat(8_600);
    await agent.say(first);
    await agent.say("What does it say of the fox?");
    const body = upstream.heard.at(-1)?.body.toString() ?? "";
    expect(body).toContain(first);
    expect(body).toContain("What does it say of the fox?");
  });

  test("a large tool result is clipped to the available space, not to the length of a preview", async () => {
    const { upstream, agent } = await smallModel("anthropic", 16_000);
    await agent.say("Read the notes.");
    agent.elements.push(
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: "a line of notes that says little. ".repeat(3_000),
          },
        ],
      },
    );
    expect((await agent.send()).status).toBe(200);
    const body = upstream.heard.at(-1)?.body.toString() ?? "";
    expect(body.length).toBeGreaterThan(15_000);
    expect(body.length).toBeLessThan(60_000);
  });

  test("the user's newest message goes out whole, even if the message is larger than the window", async () => {
    const { upstream, agent } = await smallModel("anthropic", 8_000);
    await agent.say("Begin.");
    const newest = "word after word of a pasted document. ".repeat(3_000);
    await agent.say(newest);
    expect(upstream.heard.at(-1)?.body.toString()).toContain(newest);
  });
});

sizedTest(
  "in any window from 8,000 tokens on, the first, newest and latest messages are sent, and all are in the log",
  async () => {
    const words = (seed: number, size: number) =>
      Array.from({ length: size }, (_, at) => `w${(seed * 7_919 + at * 31) % 997}`).join(" ");
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 8_000, max: 40_000 }),
        fc.constantFrom("longhaul", "cline", "roo"),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 4, maxLength: 24 }),
        async (window, policy, sizes) => {
          const { upstream, gateway, agent } = await smallModel("anthropic", window, { policy });
          const said: string[] = [];
          for (const [turn, size] of sizes.entries()) {
            const text = `Message ${turn}: ${words(turn, size)}`;
            said.push(text);
            await agent.say(text);
            const body = upstream.heard.at(-1)?.body.toString() ?? "";
            expect(body).toContain(written(text));
            expect(body).toContain(written(said[0] as string));
            if (turn > 0) expect(body).toContain("I see.");
          }
          const [main] = await threadsOf(gateway);
          const session = await gateway.kernel.session(main?.id);
          const log: string[] = [];
          for (const entry of await session.read({ from: 1, limit: 200, kinds: ["message"] }))
            log.push(JSON.stringify(entry));
          for (const text of said)
            expect(log.filter((entry) => entry.includes(written(text)))).toHaveLength(1);
          await gateway.close();
        },
      ),
      { numRuns: proofRounds(12, 2) },
    );
  },
);
