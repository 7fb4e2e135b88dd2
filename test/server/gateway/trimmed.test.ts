import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import "../../support/seed.ts";
import { proofRounds, proofTest, sizedTest } from "../../support/proof.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { lineOfThread, onlyLine } from "./only-line.ts";
import { textsIn } from "./said.ts";
import { type Trimming, TrimmingAgent } from "./trimming-agent.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const LISTS = { anthropic: "messages", "openai-chat": "messages", "openai-responses": "input" } as const;

/** A provider whose every third reply calls a tool; no two replies are the same. */
async function world(config = {}) {
  const upstream = await startUpstream(
    says((_, index) => ({
      text: `Reply number ${index}.`,
      ...(index % 3 === 1 && { toolCalls: [{ id: `call_${index}`, name: "read_file", input: { index } }] }),
    })),
  );
  return { upstream, gateway: await startGateway({ upstream: upstream.url, config }) };
}

/** The log of a gateway's only session, sorted. */
async function onlyLog(gateway: TestGateway): Promise<readonly string[]> {
  const threads = await threadsOf(gateway);
  expect(threads.map(({ id }) => id)).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  return log.map(({ message }) => textsIn(message)).sort();
}

const trimming: fc.Arbitrary<Trimming> = fc.record({
  newest: fc.integer({ min: 3, max: 9 }),
  keepsFirst: fc.boolean(),
  cutsMiddle: fc.option(fc.integer({ min: 2, max: 6 }), { nil: undefined }),
});

/** Few different texts, so that a client often repeats itself. */
const words = fc.constantFrom(
  "Go on.",
  "continue",
  "[read_file for 'a.ts'] Result: ok",
  "Now the tests, please.",
);

const conversation = fc.record({
  api: fc.constantFrom(...APIS),
  id: fc.option(fc.constant("given-by-the-client"), { nil: undefined }),
  first: trimming,
  steps: fc.array(fc.record({ words, changed: fc.option(trimming, { nil: undefined, freq: 4 }) }), {
    minLength: 4,
    maxLength: 14,
  }),
  reminds: fc.constantFrom("never", "always", "at times"),
});

describe("a client that trims its own history", () => {
  sizedTest("a client that trims its history has one session, and its requests stay unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async ({ api, id, first, steps, reminds }) => {
        const { upstream, gateway } = await world();
        const agent = new TrimmingAgent(gateway, api);
        if (id !== undefined) agent.headers["x-longhaul-session"] = id;
        let current = first;
        for (const [turn, { words: text, changed }] of steps.entries()) {
          current = changed ?? current;
          const hasTail = reminds === "always" || (reminds === "at times" && turn % 2 === 0);
          const tail = hasTail ? `<system-reminder>It is turn ${turn}.</system-reminder>` : undefined;
          const sent = await agent.step(turn === 0 ? `Begin with ${text}` : text, current, tail);
          expect(upstream.heard.at(-1)?.json[LISTS[api]]).toEqual(sent);
        }
        expect(await onlyLog(gateway)).toEqual([...agent.said].sort());
        await gateway.close();
        await upstream.close();
      }),
      { numRuns: proofRounds(25) },
    );
  });
});

const WINDOW_OF_FOUR: Trimming = { newest: 4, keepsFirst: false };

describe("a sliding window", () => {
  test("a client with a sliding window goes on in its session after a restart", async () => {
    const { upstream, gateway } = await world();
    const agent = new TrimmingAgent(gateway, "anthropic");
    for (let turn = 0; turn < 6; turn++) await agent.step(`Turn ${turn} of it.`, WINDOW_OF_FOUR);
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    agent.gateway = second;
    for (let turn = 6; turn < 9; turn++) await agent.step(`Turn ${turn} of it.`, WINDOW_OF_FOUR);
    expect(await onlyLog(second)).toEqual([...agent.said].sort());
  });

  test("a line holds what the client with a sliding window sent last, and the log holds everything", async () => {
    const { gateway } = await world();
    const agent = new TrimmingAgent(gateway, "anthropic");
    for (let turn = 0; turn < 5; turn++) await agent.step(`Turn ${turn} of it.`, WINDOW_OF_FOUR);
    expect(await onlyLine(gateway)).toEqual(agent.said.slice(-5));
    const session = await gateway.kernel.session((await threadsOf(gateway))[0]?.id);
    const reasons = (await session.lines()).map(({ reason }) => reason);
    expect(reasons[0]).toBe("the caller left out 2 messages");
    await session.choose(0);
    expect(await onlyLine(gateway)).toEqual(agent.said.slice(0, 4));
  });

  test.each([...APIS, "google"] as const)(
    "a client that puts its own summary before its newest messages has them once in the log (%s)",
    async (api) => {
      const upstream = await startUpstream(says((_, index) => ({ text: `Reply number ${index} is here.` })));
      const gateway = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(gateway, api);
      const said: string[] = [];
      for (let turn = 1; turn <= 12; turn++) {
        const words = `Question ${turn} about the harbor.`;
        said.push(`user|${words}`, `assistant|${(await agent.say(words)).text}`);
        if (turn % 4 > 0) continue;
        const summary = `<state_snapshot>Round ${turn}: the harbor was asked about.</state_snapshot>`;
        agent.elements = [...agent.words(summary), ...agent.elements.slice(-5)];
        if (turn < 12) said.push(`user|${summary}`);
      }
      expect(await onlyLog(gateway)).toEqual(said.sort());
      expect(await onlyLine(gateway)).toHaveLength(1 + 5 + 2 * 4);
    },
  );

  test.each(APIS.flatMap((api) => [[api, "inside"] as const, [api, "outside"] as const]))(
    "a client that keeps what people said before its own summary has it once in the log (%s, asked %s the conversation)",
    async (api, place) => {
      const summary = (turn: number) =>
        `Round ${turn}: ${"the pilot asked for the depth of the harbor, and the chart gave it. ".repeat(3)}`;
      const upstream = await startUpstream(
        says(({ body }, index) => {
          const asked = /handoff summary of round (\d+)(?!.*handoff summary)/s.exec(body.toString());
          return { text: asked ? summary(Number(asked[1])) : `Reply number ${index} is here.` };
        }),
      );
      let gateway = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(gateway, api);
      agent.headers["session-id"] = "0199a213-81c0-7800-8aa1-bbab2a035a53";
      const asked: string[] = [];
      for (let turn = 1; turn <= 13; turn++) {
        if (turn % 5 < 2) {
          await gateway.close();
          gateway = await startGateway({ upstream: upstream.url, path: gateway.path });
          agent.gateway = gateway;
        }
        asked.push(`Question ${turn} about the harbor.`);
        await agent.say(asked.at(-1) as string);
        if (turn % 4 > 0) continue;
        const prompt = `You are asked for a handoff summary of round ${turn} of this conversation, for another model that will resume it. Do not call any tools.`;
        const elements = [...agent.elements, ...agent.words(prompt)];
        if (place === "inside") await agent.say(prompt);
        else await agent.send({ body: { ...agent.body(), tools: undefined, [LISTS[api]]: elements } });
        const handoff = `Another model began this task and left this:\n${summary(turn)}`;
        agent.elements = [...asked, handoff].flatMap((words) => agent.words(words));
      }
      const threads = await threadsOf(gateway);
      const main = threads.filter(({ id }) => !id.includes("/compaction"));
      expect(main).toHaveLength(1);
      expect(threads).toHaveLength(place === "inside" ? 1 : 4);
      const session = await gateway.kernel.session(main[0]?.id);
      const log = (await logOf(session)).map(({ message }) => textsIn(message));
      expect(asked.filter((words) => !log.includes(`user|${words}`))).toEqual([]);
      expect(log.filter((line, at) => log.indexOf(line) !== at)).toEqual([]);
      expect((await lineOfThread(gateway, session.id)).slice(0, -3)).toEqual(
        asked.slice(0, -1).map((words) => `user|${words}`),
      );
    },
  );

  test("a client with a sliding window stays in its session when it repeats a request", async () => {
    const { gateway } = await world();
    const agent = new TrimmingAgent(gateway, "anthropic");
    for (let turn = 0; turn < 5; turn++) {
      await agent.step(`Turn ${turn} of it.`, WINDOW_OF_FOUR);
      // A repetition of the first request would be another conversation.
      if (turn > 0) await agent.again({ newest: 3, keepsFirst: false });
    }
    expect(await onlyLog(gateway)).toEqual([...agent.said].sort());
  });

  proofTest("a sliding window that does not fit is edited, and keeps the newest message whole", async () => {
    const upstream = await startLimitedUpstream({
      api: "anthropic",
      window: 16_000,
      count: (body) => Math.ceil(body.length / 4),
      reply: (index) => ({ text: `Reply number ${index}: ${output(index, 2_000)}` }),
    });
    const small = { name: "small", baseUrl: upstream.url, apis: ["anthropic"], window: 16_000 };
    const gateway = await startGateway({ upstream: [small] });
    const agent = new TrimmingAgent(gateway, "anthropic");
    for (let turn = 0; turn < 20; turn++) {
      const asked = `Turn ${turn} of it: ${output(turn + 100, 6_000)}`;
      await agent.step(asked, { newest: 12, keepsFirst: turn % 2 === 0 });
      // Content that the message asks for may be paged in after it.
      const newest = upstream.heard.at(-1)?.json.messages.at(-1);
      expect(newest).toMatchObject({ role: "user", content: expect.stringMatching(/^Turn \d+ of it: /) });
      expect(newest.content.startsWith(asked)).toBe(true);
    }
    expect(await onlyLog(gateway)).toEqual([...agent.said].sort());
  });

  proofTest("simultaneous clients with sliding windows stay apart, even if all begin alike", async () => {
    const upstream = await startUpstream(
      says((heard) => ({ text: `You said: ${heard.json.messages.at(-1).content}` })),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agents = Array.from({ length: 12 }, () => new TrimmingAgent(gateway, "anthropic"));
    await Promise.all(
      agents.map(async (agent, who) => {
        await agent.step("Hello there, let us begin.", WINDOW_OF_FOUR);
        for (let turn = 1; turn < 7; turn++)
          await agent.step(`person-${who}-end says ${turn}`, { newest: 3, keepsFirst: false });
      }),
    );
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(agents.length);
    for (const { id } of threads) {
      const log = (await logOf(await gateway.kernel.session(id))).map(({ message }) => textsIn(message));
      expect(log).toHaveLength(14);
      expect(new Set(log.join().match(/person-\d+-end/g)).size).toBe(1);
    }
  });
});

describe("a client that ends each request with a reminder", () => {
  proofTest(
    "each reminder at the end of a request is logged once, and later reminders are notes outside the active line",
    async () => {
      const { upstream, gateway } = await world();
      const agent = new TrimmingAgent(gateway, "anthropic");
      const whole: Trimming = { newest: 1_000, keepsFirst: true };
      const reminder = (turn: number) => `<system-reminder>It is turn ${turn} of many.</system-reminder>`;
      for (let turn = 0; turn < 45; turn++) {
        const sent = await agent.step(`Turn ${turn} of it.`, whole, reminder(turn));
        expect(upstream.heard.at(-1)?.json.messages).toEqual(sent);
      }
      await agent.step("And a last word without one.", whole);
      const [main] = await threadsOf(gateway);
      const session = await gateway.kernel.session(main?.id);
      const notes = (await session.read({ from: 1, kinds: ["notice"], limit: 1_000 })).flatMap((entry) =>
        entry.kind === "notice" ? [`user|${entry.text.split("\n").slice(1).join("\n")}`] : [],
      );
      expect(notes.length).toBeGreaterThan(5);
      expect([...(await onlyLog(gateway)), ...notes].sort()).toEqual([...agent.said].sort());
      expect(await onlyLine(gateway)).toEqual(agent.said.filter((text) => !text.includes("system-reminder")));
      expect((await session.lines(1))[0]?.ranges.length).toBeLessThan(70);
    },
  );

  proofTest("reminders that the client begins to keep are on the active line", async () => {
    const { gateway } = await world();
    const agent = new TrimmingAgent(gateway, "anthropic");
    const whole: Trimming = { newest: 1_000, keepsFirst: true };
    for (let turn = 0; turn < 40; turn++)
      await agent.step(`Turn ${turn} of it.`, whole, `[status] turn ${turn}`);
    const kept = new TestAgent(gateway);
    kept.elements = [...agent.elements.filter(({ content }) => !String(content).startsWith("[status]"))];
    for (let turn = 40; turn < 43; turn++) {
      if (kept.elements.at(-1)?.role === "assistant")
        kept.elements.push(...kept.words(`Turn ${turn} of it.`));
      await kept.say(`[status] turn ${turn}`);
    }
    const line = await onlyLine(gateway);
    expect(line.filter((text) => text.startsWith("user|[status]"))).toEqual(
      [40, 41, 42].map((turn) => `user|[status] turn ${turn}`),
    );
  });
});

describe("a message that begins like a dropped one", () => {
  test("a message that begins like a dropped message is stored and sent", async () => {
    const { upstream, gateway } = await world();
    const agent = new TestAgent(gateway);
    agent.fields.tools = undefined;
    const asked: string[] = [];
    const turn = async (text: string) => {
      asked.push(`user|${text}`);
      await agent.say(text);
    };
    upstream.answer(says((_, index) => ({ text: `<read_file>src/file-${index}.ts</read_file>` })));
    await turn("<task>Find the bug in the parser.</task>");
    const result = (at: number) => `[read_file for 'src/file-${at}.ts'] Result:\ncontents ${at}`;
    for (let at = 1; at <= 8; at++) await turn(result(at));
    agent.elements.splice(2, 8);
    for (let at = 9; at <= 14; at++) await turn(result(at));
    expect(upstream.heard.at(-1)?.json.messages.at(-1).content).toBe(result(14));
    const log = await onlyLog(gateway);
    expect(log.filter((text) => text.startsWith("user|"))).toEqual(asked.sort());
    expect(log).toHaveLength(30);
  });
});

describe("conversations that only look the same", () => {
  test("two conversations stay apart if neither continues the end of the other", async () => {
    const { gateway } = await world();
    const [one, two] = [new TestAgent(gateway), new TestAgent(gateway)];
    for (const text of ["Hello.", "Look at the parser.", "And at the lexer."]) await one.say(text);
    await two.say("Hello.");
    two.elements = [
      ...two.words("Look at the parser."),
      { role: "assistant", content: "No." },
      ...two.words("Why?"),
    ];
    await two.next();
    expect(await threadsOf(gateway, "main")).toHaveLength(3);
    const lines = await Promise.all((await threadsOf(gateway)).map(({ id }) => lineOfThread(gateway, id)));
    expect(lines.map(({ length }) => length).sort()).toEqual([2, 4, 6]);
  });

  test("two conversations stay apart if another agent repeats the same messages", async () => {
    const { gateway } = await world();
    const one = new TestAgent(gateway);
    for (const text of ["Hello.", "Look at the parser."]) await one.say(text);
    const two = new TestAgent(gateway);
    two.fields.system = "You translate what you are told into French, and do nothing else at all.";
    two.fields.tools = undefined;
    two.elements = [...one.elements.slice(2), ...two.words("Et maintenant?")];
    await two.next();
    expect(await threadsOf(gateway, "main")).toHaveLength(2);
  });
});
