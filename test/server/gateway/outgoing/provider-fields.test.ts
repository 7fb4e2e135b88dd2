import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import { eventsOf, type Heard, says, startUpstream } from "../../../support/upstream.ts";

const BREAKPOINT = "prompt_cache_breakpoint";

/** The indexes of the elements with a breakpoint. */
function findBreakpoints({ json }: Heard): readonly number[] {
  return (json.input ?? json.messages).flatMap((element: WireObject, index: number) =>
    JSON.stringify(element).includes(BREAKPOINT) ? [index] : [],
  );
}

describe.each(["openai-responses", "openai-chat"] as const)("cache breakpoints over %s", (api) => {
  async function work(hasOptions: boolean) {
    let call = 0;
    const upstream = await startUpstream(
      says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] })),
    );
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gpt*": { window: 32_000 } } },
    });
    const agent = new TestAgent(gateway, api);
    agent.fields.model = "gpt-5.6";
    if (hasOptions) agent.fields.prompt_cache_options = { mode: "implicit" };
    const [first] = agent.words("Go through all files.") as [WireObject];
    agent.elements.push(
      api === "openai-chat" && hasOptions
        ? {
            role: "user",
            content: [{ type: "text", text: first.content, [BREAKPOINT]: { mode: "explicit" } }],
          }
        : first,
    );
    let reply = await agent.next();
    for (let turn = 0; turn < 40; turn++)
      reply = await agent.hand(reply.calls, `line ${turn} of the output\n`.repeat(150));
    expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(agent.body()).length / 2);
    return upstream.heard;
  }

  test("a cache breakpoint is placed at the end of an edit, stays until the next edit, and never comes without an edit", async () => {
    const heard = await work(true);
    const marked = heard.map(findBreakpoints);
    expect(marked[0]).toEqual(api === "openai-chat" ? [0] : []);
    expect(marked.at(-1)).toHaveLength(1);
    for (const one of marked) expect(one.length).toBeLessThanOrEqual(1);
  });

  proofTest("no cache breakpoint is sent to a provider that may not support it", async () => {
    expect((await work(false)).flatMap(findBreakpoints)).toEqual([]);
  });
});

test("a message is recognized with and without a breakpoint", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, "openai-responses");
  const [plain] = agent.words("Hello.") as [{ role: string; content: readonly WireObject[] }];
  agent.elements.push({ ...plain, content: [{ ...plain.content[0], [BREAKPOINT]: { mode: "explicit" } }] });
  await agent.next();
  agent.elements[0] = plain;
  await agent.say("Go on.");
  expect(await threadsOf(gateway, "main")).toHaveLength(1);
});

describe("the cause of a cache miss", () => {
  const HOT = { input: 100, output: 5, cacheRead: 9_000, cacheWrite: 100 };
  const MISS = { input: 9_000, output: 5, cacheRead: 0, cacheWrite: 200 };
  const REASON = { type: "tools_changed", cache_missed_input_tokens: 9_000 };

  async function talk(knows: boolean, refuses = false) {
    const upstream = await startUpstream((heard, response, index) => {
      if (refuses && heard.json.diagnostics) {
        response.writeHead(400, { "content-type": "application/json" });
        const error = {
          type: "invalid_request_error",
          message: "diagnostics: Extra inputs are not permitted",
        };
        response.end(JSON.stringify({ type: "error", error }));
        return;
      }
      const usage = index === 2 ? MISS : HOT;
      const text = eventsOf(heard, { text: `Reply ${index}.`, usage, id: `msg_${index}` }).join("");
      const told = JSON.stringify({ cache_miss_reason: index === 4 ? REASON : null });
      const isAsked = heard.json.diagnostics !== undefined;
      response.setHeader("content-type", "text/event-stream");
      response.end(isAsked ? text.replace('"message":{', `"message":{"diagnostics":${told},`) : text);
    });
    const upstreams = [
      {
        name: "upstream",
        baseUrl: upstream.url,
        apis: ["anthropic"],
        contextManagement: knows ? "upstream" : "gateway",
      },
    ];
    const gateway = await startGateway({ upstream: upstreams });
    const agent = new TestAgent(gateway);
    for (let turn = 0; turn < 10; turn++) await agent.say(`Question ${turn}.`);
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    const usages = (await session.read({ from: 1, limit: 1_000, kinds: ["usage"] })).flatMap((entry) =>
      entry.kind === "usage" ? [entry.meta?.cacheDiagnosis] : [],
    );
    return { asked: upstream.heard.map(({ json }) => json.diagnostics?.previous_message_id), usages };
  }

  test("after a surprising cache miss the gateway asks for the cause and stores it with the request", async () => {
    const { asked, usages } = await talk(true);
    expect(asked).toEqual([...Array(3), null, "msg_3", "msg_4", "msg_5", ...Array(3)]);
    expect(usages).toEqual([...Array(4), REASON, ...Array(5)]);
  });

  test("a provider that may not know the question is not asked for the cause of a miss, nor again after a refusal", async () => {
    expect((await talk(false)).asked).toEqual(Array(10));
    expect((await talk(true, true)).asked.filter((id) => id !== undefined)).toEqual([null]);
  });
});
