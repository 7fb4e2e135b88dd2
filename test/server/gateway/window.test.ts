import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, proofRounds, proofTest, sizedTest } from "../../support/proof.ts";
import { behave, says, startUpstream } from "../../support/upstream.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { expectWholeLog, working, workOn } from "./long-session.ts";

const WINDOW = 64_000;
const byBytes = (body: Buffer) => Math.ceil(body.length / 4);

/** An upstream list with one entry that accepts everything. */
function small(baseUrl: string, window?: number) {
  const apis = ["anthropic", "openai-chat", "openai-responses"];
  return [{ name: "small", baseUrl, apis, ...(window !== undefined && { window }) }];
}

describe("a long session with a small upstream", () => {
  sizedTest.each(
    proofCases([
      ["openai-chat", proofRounds(120, 60), 10_000],
      ["openai-responses", 120, 5_000],
      ["anthropic", 300, 2_400],
    ] as const),
  )(
    "a long session with a small upstream over %s works for %i turns and never sees an overflow",
    async (api, turns, characters) => {
      const upstream = await startLimitedUpstream({ api, window: WINDOW, count: byBytes, reply: working });
      const gateway = await startGateway({ upstream: small(upstream.url, WINDOW) });
      const agent = await workOn(gateway, { api, turns, characters, clientWindow: 200_000 });
      await expectWholeLog(gateway, agent, api);
      expect(upstream.counts).toHaveLength(turns);
      expect(JSON.stringify(agent.body()).length / 4).toBeGreaterThan(2 * WINDOW);
    },
  );

  proofTest.each([
    [
      "counts more tokens from one day to the next",
      WINDOW,
      (body: Buffer, at: number) => body.length / (at < 40 ? 4 : 1.7),
    ],
    ["does not tell its window", undefined, (body: Buffer) => body.length / 2],
  ] as const)(
    "a long session recovers from refusals, and remembers the limit, of an upstream that %s",
    async (_, told, count) => {
      const api = "anthropic";
      const upstream = await startLimitedUpstream({
        api,
        window: WINDOW,
        reply: working,
        count: (...of) => Math.ceil(count(...of)),
      });
      const gateway = await startGateway({ upstream: small(upstream.url, told) });
      const agent = await workOn(gateway, { api, turns: 90, characters: 4_000, clientWindow: 200_000 });
      await expectWholeLog(gateway, agent, api);
      expect(upstream.refused()).toBeGreaterThan(0);
      // The learned limit persists, so healing is rare.
      expect(upstream.refused()).toBeLessThan(6);
    },
  );

  proofTest("simultaneous requests of a long session keep within the window", async () => {
    const api = "anthropic";
    let asked = 0;
    const upstream = await startLimitedUpstream({
      api,
      window: WINDOW,
      count: byBytes,
      reply: () => ({ ...working(asked++), text: "" }),
      isAtOnce: true,
    });
    const gateway = await startGateway({ upstream: small(upstream.url, WINDOW) });
    for (let round = 0; round < 4; round++) {
      const forks = Array.from({ length: 4 }, (_, at) => {
        const fork = new TestAgent(gateway, api);
        fork.elements = [...talk(40 + round * 10, 4_000), { role: "user", content: `Way ${round} ${at}.` }];
        return fork.send();
      });
      for (const { status, text } of await Promise.all(forks))
        expect([status, text.slice(0, 300)]).toContain(200);
    }
    expect(upstream.refused()).toBe(0);
    expect(upstream.counts).toHaveLength(16);
  });

  proofTest("a long session goes on with the same window after a restart", async () => {
    const api = "anthropic";
    const upstream = await startLimitedUpstream({ api, window: WINDOW, count: byBytes, reply: working });
    const gateway = await startGateway({ upstream: small(upstream.url, WINDOW) });
    const agent = await workOn(gateway, { api, turns: 60, characters: 6_000, clientWindow: 200_000 });
    const before = JSON.stringify(upstream.heard.at(-1)?.json.messages);
    await gateway.close();
    const second = await startGateway({ upstream: small(upstream.url, WINDOW), path: gateway.path });
    const later = new TestAgent(second, api);
    later.elements = [...agent.elements];
    await later.hand([{ id: "call_59", name: "read_file" }], "the last file");
    const after = JSON.stringify(upstream.heard.at(-1)?.json.messages);
    expect(upstream.refused()).toBe(0);
    expect(after.startsWith(before.slice(0, -1))).toBe(true);
    await expectWholeLog(second, later, api);
  });
});

describe("a refused request", () => {
  test("a request that stays refused is tried three more times at most, and then the client gets the provider's error", async () => {
    const words = `{"type":"error",  "error":{"type":"invalid_request_error","message":"prompt is too long: 300000 tokens > 200000 maximum"}}`;
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, {
        type: "error",
        kind: "overflow",
        body: words,
        headers: { "request-id": "req_9" },
      }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.elements = talk(30, 3_000);
    const answer = await agent.send();
    expect([answer.status, answer.text, answer.header("request-id")]).toEqual([400, words, "req_9"]);
    expect(upstream.heard.length).toBeGreaterThan(1);
    expect(upstream.heard.length).toBeLessThanOrEqual(4);
    const again = await agent.send();
    expect(again.text).toBe(words);
    expect(upstream.heard.length).toBeLessThanOrEqual(8);
  });

  test("a request that is refused for a picture goes through without the picture, as does the next request", async () => {
    const picture = Buffer.from("no picture at all".repeat(50)).toString("base64");
    const upstream = await startUpstream((heard, response, index) => {
      if (!heard.body.includes(picture)) return says("I see.")(heard, response, index);
      const message = "messages.2.content.0.image.source.base64: Could not process image";
      const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
      behave(heard, response, { type: "error", kind: "bad-request", body });
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    await agent.say("I will show you a picture.");
    const source = { type: "base64", media_type: "image/png", data: picture };
    agent.elements.push({
      role: "user",
      content: [
        { type: "image", source },
        { type: "text", text: "Here." },
      ],
    });
    expect((await agent.next()).text).toBe("I see.");
    const tries = upstream.heard.length;
    await agent.say("And what did it show?");
    expect(upstream.heard.length).toBe(tries + 1);
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
  });

  test("a request that is refused with edits off is not changed", async () => {
    const api = "anthropic";
    const upstream = await startLimitedUpstream({ api, window: 1_000, count: byBytes, reply: working });
    const gateway = await startGateway({ upstream: upstream.url, config: { policy: "none" } });
    const agent = new TestAgent(gateway);
    agent.elements = talk(10, 2_000);
    const answer = await agent.send();
    expect([answer.status, upstream.heard.length]).toEqual([400, 1]);
    expect(answer.text).toContain("prompt is too long");
    expect(upstream.heard[0]?.body.toString()).toBe(JSON.stringify(agent.body()));
  });
});

describe("edits", () => {
  test("edits are planned and reported in a dry run, and nothing is changed", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: small(upstream.url, 16_000), config: { dryRun: true } });
    const agent = new TestAgent(gateway);
    agent.elements = talk(40, 3_000);
    expect((await agent.send()).status).toBe(200);
    expect(upstream.heard[0]?.body.toString()).toBe(JSON.stringify(agent.body()));
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    expect(await session.overlays.list()).toEqual([]);
    const told = gateway.logged.find(({ event }) => event === "request");
    expect(told?.isDryRun).toBe(true);
    expect(Number(told?.tokensAfter)).toBeLessThan(Number(told?.tokensBefore));
  });

  test("edits that a client asks for with context_management are made for any upstream, and reported", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.fields.context_management = {
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "input_tokens", value: 2_000 },
          keep: { type: "tool_uses", value: 2 },
        },
      ],
    };
    agent.elements = talk(10, 2_000);
    const answer = await agent.send();
    const [heard] = upstream.heard;
    expect(heard?.json.context_management).toBeUndefined();
    expect(heard?.body.includes(output(1, 2_000).slice(0, 200))).toBe(false);
    expect(heard?.body.includes(JSON.stringify(output(9, 2_000)).slice(1, 200))).toBe(true);
    expect(answer.text).toContain("applied_edits");
    expect(answer.text).toContain("clear_tool_uses_20250919");
  });

  test("an upstream that carries out edits itself gets the client's edits unchanged", async () => {
    const upstream = await startUpstream();
    const [one] = small(upstream.url);
    const gateway = await startGateway({ upstream: [{ ...one, contextManagement: "upstream" }] });
    const agent = new TestAgent(gateway);
    agent.fields.context_management = { edits: [{ type: "edit_of_the_future_20300101", keep: 1 }] };
    agent.elements = talk(3, 500);
    expect((await agent.send()).status).toBe(200);
    expect(upstream.heard[0]?.body.toString()).toBe(JSON.stringify(agent.body()));
  });

  test("unknown edits are refused with their name", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.fields.context_management = { edits: [{ type: "edit_of_the_future_20300101" }] };
    agent.elements = talk(3, 500);
    const answer = await agent.send();
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("edit_of_the_future_20300101");
    expect(upstream.heard).toEqual([]);
  });
});

describe("reports to the client", () => {
  test.each(["anthropic", "openai-chat", "openai-responses"] as const)(
    "the token count over %s never exceeds the client's window",
    async (api) => {
      const upstream = await startUpstream(
        says(() => ({ text: "Much.", usage: { input: 3_000_000, output: 7, cacheRead: 900_000 } })),
      );
      const gateway = await startGateway({
        upstream: upstream.url,
        config: { models: { "*": { window: 150_000 } } },
      });
      const agent = new TestAgent(gateway, api);
      const reply = await agent.say("How much was that?");
      expect(reply.inputTokens).toBeGreaterThan(0);
      expect(reply.inputTokens).toBeLessThanOrEqual(150_000);
      const [main] = await threadsOf(gateway, "main");
      const session = await gateway.kernel.session(main?.id);
      const [usage] = await session.read({ from: 1, kinds: ["usage"] });
      expect(JSON.stringify(usage)).toContain("3000000");
    },
  );

  test("a client that repeats a request again and again is told to stop", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { requests: 3 } } });
    const agent = new TestAgent(gateway);
    await agent.say("Begin.");
    agent.elements.push({ role: "user", content: "Round and round we go." });
    const statuses: number[] = [];
    let words = "";
    for (let turn = 0; turn < 8; turn++) {
      const answer = await agent.send();
      statuses.push(answer.status);
      words = answer.text;
    }
    expect(statuses.at(-1)).toBe(400);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5);
    expect(words).toContain("circle");
    expect(words).toContain("breaker.requests");
    const other = new TestAgent(gateway);
    await other.say("Something else.");
  });

  proofTest("a client that asks the same many times at once, or often, is not stopped", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { requests: 3 } } });
    const agent = new TestAgent(gateway);
    await agent.say("Begin.");
    agent.elements.push({ role: "user", content: "How would you do it?" });
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => agent.send()));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    }
    const sampler = new TestAgent(gateway);
    sampler.elements.push({ role: "user", content: "Throw a die." });
    for (let round = 0; round < 8; round++) expect((await sampler.send()).status).toBe(200);
  });
});

/** A conversation of `calls` tool calls, as a client may have kept it. */
function talk(calls: number, characters: number) {
  const elements: { role: string; content: unknown }[] = [{ role: "user", content: "Read all of it." }];
  for (let call = 0; call < calls; call++) {
    const id = `toolu_${call}`;
    elements.push({
      role: "assistant",
      content: [
        { type: "text", text: `I read file ${call}.` },
        { type: "tool_use", id, name: "read_file", input: { path: `file${call}` } },
      ],
    });
    const result = { type: "tool_result", tool_use_id: id, content: output(call, characters) };
    elements.push({ role: "user", content: [result] });
  }
  return elements;
}
