import { describe, expect, test } from "vitest";
import type { WireName } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, type Heard, says, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const OUTPUT_FIELD = {
  anthropic: "max_tokens",
  "openai-chat": "max_completion_tokens",
  "openai-responses": "max_output_tokens",
} as const;
const WINDOW = 64_000;
const tokensOf = ({ body }: Heard) => Math.round(body.length / 4.3);
const wordsOf = (heard: Heard | undefined) => JSON.stringify(heard?.json.messages ?? heard?.json.input);

/** A conversation of `turns` questions and answers. */
function talk(turns: number, characters: number) {
  return Array.from({ length: 2 * turns + 1 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: at % 2 === 0 ? `Question ${at}: ${output(at, characters)}` : `Noted ${at}.`,
  }));
}

describe("a usage report", () => {
  test.each(APIS)("a usage report over %s that cannot be true leaves the next request whole", async (api) => {
    let turn = 0;
    const upstream = await startUpstream((heard, response) => {
      const input = turn++ === 4 ? 185_000 : tokensOf(heard);
      behave(heard, response, { type: "reply", reply: { text: "Fine.", usage: { input, output: 5 } } });
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    for (let at = 0; at < 8; at++) {
      await agent.say(`Question ${at}: ${output(at, 3_000)}`);
      for (let said = 0; said <= at; said++)
        expect(wordsOf(upstream.heard[at])).toContain(`Question ${said}:`);
      expect(wordsOf(upstream.heard[at])).not.toContain("cut");
    }
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    expect(await session.overlays.list()).toEqual([]);
    await gateway.close();
    // A reopened session reads the report back.
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const later = new TestAgent(second, api);
    later.elements = [...agent.elements];
    await later.say("And now?");
    expect(wordsOf(upstream.heard.at(-1))).toContain("Question 0:");
  });

  test("a usage report that sums the rounds of a server tool does not shorten a long conversation", async () => {
    const search = {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "web_search",
      input: { query: "weather" },
    };
    const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
    let turn = 0;
    const upstream = await startUpstream((heard, response) => {
      const rounds = turn++ > 2 ? 3 : 1;
      const content = [...(rounds > 1 ? [search, found] : []), { type: "text", text: "Found." }];
      const usage = { input_tokens: rounds * Math.round(heard.body.length / 2.5), output_tokens: 5 };
      const reply = {
        id: `msg_${turn}`,
        type: "message",
        role: "assistant",
        model: heard.json.model,
        content,
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...reply, stop_reason: "end_turn", usage }));
    });
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { policy: "cline", models: { "*": { window: WINDOW } } },
    });
    const agent = new TestAgent(gateway);
    agent.fields.stream = false;
    agent.elements = talk(11, 4_000);
    for (let at = 0; at < 8; at++) {
      expect((await agent.send()).status).toBe(200);
      agent.elements.push({ role: "assistant", content: [{ type: "text", text: "Found." }] });
      agent.elements.push({ role: "user", content: `More ${at}.` });
    }
    const sizes = upstream.heard.map(({ body }) => body.length);
    expect(Math.min(...sizes)).toBe(sizes[0]);
  });
});

/** A provider that counts the requested output towards the limit, and refuses in the format of its API. */
function strict(api: OlderWireName, reply = "Fine.") {
  return startUpstream((heard, response, index) => {
    const input = tokensOf(heard);
    const asked = heard.json[OUTPUT_FIELD[api]] ?? 0;
    if (input + asked <= WINDOW)
      return says(() => ({ text: reply, usage: { input, output: 3 } }))(heard, response, index);
    const message =
      api === "anthropic"
        ? `input length and \`max_tokens\` exceed context limit: ${input} + ${asked} > ${WINDOW}, decrease input length or \`max_tokens\` and try again`
        : `This model's maximum context length is ${WINDOW} tokens. However, you requested ${input + asked} tokens (${input} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`;
    const error = { type: "invalid_request_error", message };
    const body = JSON.stringify(
      api === "anthropic"
        ? { type: "error", error }
        : { error: { ...error, code: "context_length_exceeded" } },
    );
    behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
  });
}

describe("an output limit that does not fit", () => {
  test.each(APIS.flatMap((api) => [[api, 63_900] as const, [api, 90_000] as const]))(
    "an output limit over %s that does not fit is lowered from %i, and no message is cut",
    async (api, asked) => {
      const upstream = await strict(api);
      const gateway = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(gateway, api);
      agent.fields[OUTPUT_FIELD[api]] = asked;
      agent.elements = talk(5, 1_800);
      expect((await agent.next()).text).toBe("Fine.");
      expect(upstream.heard).toHaveLength(2);
      const [first, second] = upstream.heard;
      expect(wordsOf(second)).toBe(wordsOf(first));
      const lowered = second?.json[OUTPUT_FIELD[api]];
      expect(lowered).toBeLessThan(WINDOW);
      expect(lowered).toBeGreaterThan(50_000);
      // The limit is now known and requested right away.
      await agent.say("Go on.");
      expect(upstream.heard).toHaveLength(3);
      expect(upstream.heard[2]?.json[OUTPUT_FIELD[api]]).toBeGreaterThan(50_000);
    },
  );

  test("an output limit that is lowered stays above the budget for thinking", async () => {
    const upstream = await strict("anthropic");
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.fields.max_tokens = 63_900;
    agent.fields.thinking = { type: "enabled", budget_tokens: 63_000 };
    agent.elements = talk(5, 1_800);
    expect((await agent.next()).text).toBe("Fine.");
    const { max_tokens, thinking } = upstream.heard[1]?.json ?? {};
    expect(thinking).toMatchObject({ type: "enabled" });
    expect(thinking.budget_tokens).toBeLessThan(max_tokens);
    expect(thinking.budget_tokens).toBeGreaterThan(50_000);
  });

  test("an output limit that the request does not name cannot be lowered, and the client gets the error", async () => {
    const words = `{"error":{"message":"This model's maximum context length is 64000 tokens. However, you requested 66000 tokens (2000 in the messages, 64000 in the completion).","code":"context_length_exceeded"}}`;
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "error", kind: "overflow", status: 400, body: words }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, "openai-chat");
    agent.elements = talk(4, 1_000);
    const answer = await agent.send();
    expect([answer.status, answer.text, upstream.heard.length]).toEqual([400, words, 1]);
  });
});

describe("a permanent overflow", () => {
  const endless = () =>
    startUpstream((heard, response) => {
      const tokens = tokensOf(heard);
      const message = `prompt is too long: ${tokens} tokens > ${Math.round(0.95 * tokens)} maximum`;
      const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
      behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
    });

  proofTest("a permanent overflow is healed once, and no body is sent twice", async () => {
    const upstream = await endless();
    const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { overflows: 50 } } });
    const agent = new TestAgent(gateway);
    agent.elements = talk(12, 4_000);
    const first = await agent.send();
    expect(first.text).toContain("prompt is too long");
    const tries = upstream.heard.length;
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThanOrEqual(4);
    expect(new Set(upstream.heard.map(({ body }) => body.toString())).size).toBe(tries);
    for (let again = 0; again < 5; again++) expect((await agent.send()).status).toBe(400);
    expect(upstream.heard).toHaveLength(tries + 5);
    // Nothing was cut for attempts that did not help.
    expect(upstream.heard.at(-1)?.body.toString()).toBe(JSON.stringify(agent.body()));
    agent.elements.push({ role: "assistant", content: "Hm." }, { role: "user", content: "And now?" });
    await agent.send();
    expect(upstream.heard).toHaveLength(tries + 6);
    // A client that has shortened the conversation by itself is still in the same turn: nothing more is healed.
    agent.elements = [...agent.elements.slice(0, 1), ...agent.elements.slice(-2)];
    await agent.send();
    expect(upstream.heard).toHaveLength(tries + 7);
  });

  test("a permanent overflow of a request that cannot be made smaller is reported at once", async () => {
    const upstream = await endless();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Hello." }];
    expect((await agent.send()).status).toBe(400);
    const bodies = upstream.heard.map(({ body }) => body.toString());
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  proofTest("a permanent overflow stops a client in words that do not look like an overflow", async () => {
    const upstream = await endless();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.elements = talk(12, 4_000);
    let words = "";
    for (let turn = 0; turn < 30; turn++) {
      const { status, text } = await agent.send();
      expect(status).toBe(400);
      words = text;
      agent.elements.push(
        { role: "assistant", content: `Again ${turn}.` },
        { role: "user", content: "Go on." },
      );
    }
    expect(upstream.heard.length).toBeLessThanOrEqual(20);
    expect(words).toContain("breaker.overflows");
    expect(words).not.toMatch(/too long|context/);
  });

  proofTest("an overflow that ends is forgotten with the first answer", async () => {
    const api = "anthropic";
    let window = 1_000;
    const upstream = await startUpstream((heard, response, index) => {
      const tokens = tokensOf(heard);
      if (tokens <= window)
        return says(() => ({ text: "Fine.", usage: { input: tokens, output: 3 } }))(heard, response, index);
      const message = `prompt is too long: ${tokens} tokens > ${tokens - 1} maximum`;
      const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
      behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = talk(12, 4_000);
    expect((await agent.send()).status).toBe(400);
    window = 100_000;
    expect((await agent.next()).text).toBe("Fine.");
    expect(upstream.heard.at(-1)?.json.messages).toHaveLength(25);
  });
});

test("an upstream limit with impossible numbers is not taken for the window", async () => {
  const api = "anthropic";
  const message = "prompt is too long: 900000 tokens > 600 maximum";
  const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
  let isFirst = true;
  const upstream = await startUpstream((heard, response, index) => {
    if (!isFirst) return says("Fine.")(heard, response, index);
    isFirst = false;
    behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, api);
  agent.elements = talk(6, 2_000);
  expect((await agent.send()).status).toBe(200);
  const other = new TestAgent(gateway, api);
  other.elements = talk(20, 4_000);
  expect((await other.send()).status).toBe(200);
  expect(upstream.heard.at(-1)?.body.toString()).toBe(JSON.stringify(other.body()));
});
