import { describe, expect, test } from "vitest";
import type { EntryId } from "../../../../src/kernel/index.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { commonLength, promptOf } from "./prompt.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;
const TURNS = 50;
/** The turns after which the person has something remembered. */
const REMEMBERED = [3, 8, 13, 18, 23, 28, 33, 38, 43, 48];

/** The share of all prompt bytes that the prompt before began with. */
function cachedShare(heard: readonly Heard[]): number {
  let [cached, all, before] = [0, 0, ""];
  for (const one of heard) {
    const prompt = promptOf(one);
    const isExtension = prompt.startsWith(before);
    cached += isExtension ? before.length : commonLength(before, prompt);
    all += prompt.length;
    before = prompt;
  }
  return cached / all;
}

async function talk(
  api: (typeof APIS)[number],
  config: Readonly<Record<string, unknown>>,
  model: string | undefined,
  remembers: readonly number[],
): Promise<readonly Heard[]> {
  const upstream = await startUpstream(
    says((_, index) => ({ text: `Answer ${index}. ${"All is well. ".repeat(20)}` })),
  );
  const gateway = await startGateway({ upstream: upstream.url, config });
  await gateway.kernel.memories().remember("The user prefers short answers.", { by: "user" });
  const agent = new TestAgent(gateway, api);
  if (model !== undefined) agent.fields.model = model;
  for (let turn = 0; turn < TURNS; turn++) {
    await agent.say(`Question ${turn}: ${"what about this part of the plan? ".repeat(10)}`);
    if (remembers.includes(turn))
      await gateway.kernel.memories().remember(`Fact ${turn} of the project is settled.`, { by: "user" });
  }
  return upstream.heard;
}

const CASES = [
  ...APIS.map((api) => ({ api, model: undefined })),
  { api: "anthropic" as const, model: "claude-opus-4-8" },
];

describe.each(proofCases(CASES))("over $api with $model", ({ api, model }) => {
  sizedTest(
    "ten memories in fifty turns change no byte before the newest message, and all reach the model",
    async () => {
      const heard = await talk(api, { recall: { tools: "always", context: true } }, model, REMEMBERED);
      expect(heard).toHaveLength(TURNS);
      for (const [index, one] of heard.slice(1).entries())
        expect(promptOf(one).startsWith(promptOf(heard[index] as Heard)), `turn ${index + 1}`).toBe(true);
      const last = heard.at(-1)?.body.toString() ?? "";
      for (const turn of REMEMBERED.slice(0, -1)) expect(last.split(`Fact ${turn} of`)).toHaveLength(2);
      const plain = await talk(api, { memories: false, recall: "off" }, model, []);
      expect(cachedShare(heard)).toBeGreaterThanOrEqual(cachedShare(plain) - 0.005);
      if (model !== undefined) {
        const list: readonly { readonly role: string }[] = heard.at(-1)?.json.messages;
        expect(list.filter(({ role }) => role === "system")).toHaveLength(REMEMBERED.length);
      }
    },
  );
});

test("a restart keeps the place of every memory", async () => {
  const upstream = await startUpstream(says("Fine."));
  const first = await startGateway({ upstream: upstream.url });
  await first.kernel.memories().remember("The port is 7781.", { by: "user" });
  const agent = new TestAgent(first);
  await agent.say("Hello.");
  await first.kernel.memories().remember("The host is staging.", { by: "user" });
  await agent.say("Go on.");
  const { path } = first;
  await first.close();
  const second = await startGateway({ upstream: upstream.url, path });
  agent.gateway = second;
  await agent.say("And on.");
  const [, before, after] = upstream.heard;
  expect(promptOf(after as Heard).startsWith(promptOf(before as Heard))).toBe(true);
  expect(after?.body.toString().split("The host is staging.")).toHaveLength(2);
});

test("a memory whose message was taken back is shown again, but not a forgotten memory", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  const memories = gateway.kernel.memories();
  await memories.remember("The port is 7781.", { by: "user" });
  const agent = new TestAgent(gateway);
  await agent.say("Hello.");
  const host = await memories.remember("The host is staging.", { by: "user" });
  const before = [...agent.elements];
  await agent.say("Go on.");
  agent.elements = before;
  await agent.say("Go elsewhere.");
  expect(upstream.heard.at(-1)?.body.toString().split("The host is staging.")).toHaveLength(2);
  await memories.forget(host?.id as EntryId);
  await agent.say("And on.");
  expect(upstream.heard.at(-1)?.body.toString()).not.toContain("The host is staging.");
});

test("longhaul's own tools join inside a conversation if the client changes its tools there, and change no byte before", async () => {
  let call = 0;
  const upstream = await startUpstream(
    says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] })),
  );
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { recall: { tools: "always" } },
  });
  const agent = new TestAgent(gateway);
  agent.fields.model = "claude-opus-4-8";
  const tools = [
    { name: "run_command", input_schema: { type: "object" } },
    { name: "deploy", input_schema: { type: "object" }, defer_loading: true },
  ];
  agent.fields.tools = tools;
  agent.headers["anthropic-beta"] = "mid-conversation-tool-changes-2026-07-01";
  let reply = await agent.say("Go through all files.");
  for (let turn = 0; turn < 5; turn++) reply = await agent.hand(reply.calls, `Output ${turn}.`);
  for (const [index, one] of upstream.heard.slice(1).entries())
    expect(promptOf(one).startsWith(promptOf(upstream.heard[index] as Heard))).toBe(true);
  const last = upstream.heard.at(-1)?.json;
  expect(last.tools.slice(0, 2)).toEqual(tools);
  const own: readonly { readonly name: string; readonly defer_loading: boolean }[] = last.tools.slice(2);
  expect(own.map(({ name }) => name)).toContain("longhaul_recall");
  expect(own.every(({ defer_loading }) => defer_loading)).toBe(true);
  const added = last.messages.filter(({ role }: { role: string }) => role === "system");
  expect(added).toHaveLength(1);
  expect(added[0].content[0]).toEqual({
    type: "tool_addition",
    tool: { type: "tool_reference", name: own[0]?.name },
  });
  const at = last.messages.indexOf(added[0]);
  expect([last.messages[at - 1].role, last.messages[at + 1].role]).toEqual(["user", "assistant"]);
});

test("an upstream that refuses tools inside a conversation gets them in the list of tools", async () => {
  let call = 0;
  const upstream = await startUpstream((heard, response, index) => {
    if (heard.body.includes("tool_addition")) {
      response.writeHead(400, { "content-type": "application/json" });
      const error = { type: "invalid_request_error", message: "tool_addition is not supported" };
      response.end(JSON.stringify({ type: "error", error }));
    } else
      says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] }))(
        heard,
        response,
        index,
      );
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { recall: { tools: "always" } } });
  const agent = new TestAgent(gateway);
  agent.fields.model = "claude-opus-4-8";
  agent.fields.tools = [
    { name: "run_command", input_schema: { type: "object" } },
    { name: "deploy", input_schema: { type: "object" }, defer_loading: true },
  ];
  agent.headers["anthropic-beta"] = "mid-conversation-tool-changes-2026-07-01";
  const reply = await agent.say("Go.");
  await agent.hand(reply.calls, "Done.");
  const tried = upstream.heard.map(({ body }) => body.includes("tool_addition"));
  expect(tried).toEqual([true, false, false]);
  expect(upstream.heard.at(-1)?.body.toString()).toContain("longhaul_recall");
});
