import { describe, expect } from "vitest";
import { type AskedCall, TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { startStrictUpstream } from "../../../support/strict-upstream.ts";
import type { Heard } from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";
import { output } from "../limited.ts";

const MARK = { cache_control: { type: "ephemeral" } };
const CASES = [
  { api: "anthropic", model: "claude-opus-5-5" },
  { api: "anthropic", model: "claude-sonnet-4-5" },
  { api: "openai-responses", model: "gpt-6.1-sol" },
  { api: "openai-chat", model: "deepseek-v4-pro" },
  { api: "openai-chat", model: "kimi-k2.7-code" },
  { api: "google", model: "gemini-3-pro" },
] as const;

/** Calls in rounds of five, then an answer in words. */
function replyOf(_: Heard, index: number): Reply {
  const reasoning = `Thought ${index}: ${output(index, 100)}`;
  if (index % 6 === 5) return { reasoning, text: `Round ${index} is done.` };
  const input = { path: `src/part${index % 4}.ts`, command: `make part${index}` };
  const name = index % 2 === 0 ? "read_file" : "run_command";
  return { reasoning, toolCalls: [{ id: `call_${index}`, name, input }] };
}

/** Lets an appending client with moving markers work, and returns its own bodies and those that the provider got. */
async function append(
  { api, model }: (typeof CASES)[number],
  turns: number,
  config: object,
  outputOf: (turn: number) => string,
) {
  const upstream = await startStrictUpstream({ reply: replyOf });
  const gateway = await startGateway({ upstream: upstream.url, config: { recall: {}, ...config } });
  const agent = new TestAgent(gateway, api);
  if (api !== "google") agent.fields.model = model;
  const own: string[] = [];
  let calls: readonly AskedCall[] = [];
  for (let turn = 0; turn < turns; turn++) {
    agent.elements.push(
      ...(calls.length > 0
        ? agent.results(
            calls,
            calls.map(() => outputOf(turn)),
          )
        : agent.words(`Question ${turn}: what comes next?`)),
    );
    const body = JSON.stringify(api === "anthropic" ? withMark(agent.body()) : agent.body());
    own.push(body);
    const answer = await agent.send({ body });
    expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    const reply = agent.read(answer.text);
    calls = reply.calls;
    agent.elements.push(...reply.elements);
  }
  expect(upstream.refusals()).toEqual([]);
  const lost = upstream.judged.flatMap((judged) => judged.lost);
  return { own, sent: upstream.heard.map(({ body }) => body.toString()), lost };
}

/** The body with a marker on its last block, like most clients send it. */
function withMark(body: Readonly<Record<string, unknown>>): object {
  const messages = body.messages as readonly { readonly role: string; readonly content: unknown }[];
  const asBlocks = messages.map(({ role, content }) => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : (content as object[]),
  }));
  const { role, content } = asBlocks.at(-1) as (typeof asBlocks)[number];
  const marked = { role, content: [...content.slice(0, -1), { ...content.at(-1), ...MARK }] };
  return { ...body, messages: [...asBlocks.slice(0, -1), marked] };
}

/** The bytes of a body up to the end of its last message; markers may move. */
function prefixOf(body: string): string {
  return body.replaceAll(`,${JSON.stringify(MARK).slice(1, -1)}`, "").replace(/\]\}$/, "");
}

/** A body without the contents of its tool results. */
function withoutResults(body: string): string {
  const emptied = JSON.stringify(JSON.parse(body), (key, value) => {
    if (value?.type === "tool_result") return { ...value, content: "" };
    if (value?.type === "function_call_output") return { ...value, output: "" };
    if (value?.role === "tool") return { ...value, content: "" };
    return key === "functionResponse" ? { ...value, response: {} } : value;
  });
  return emptied;
}

describe.each(proofCases(CASES))("an appending client of $model over $api", (one) => {
  sizedTest("30 requests without a seam are each a byte extension of the last", async () => {
    const { sent, lost } = await append(one, 30, {}, (turn) => output(turn % 11, 3_000));
    expect(sent).toHaveLength(30);
    for (const [index, body] of sent.slice(1).entries()) {
      const before = prefixOf(sent[index] as string);
      expect(prefixOf(body).slice(0, before.length), `request ${index + 1}`).toBe(before);
    }
    expect(lost).toEqual([]);
  });

  sizedTest("below 50,000 tokens no byte changes but by the filters at entry", async () => {
    // Files that are read again and runs that repeat, so that the filters have something to do.
    const outputOf = (turn: number) => output(turn % 4, 5_000);
    const plain = await append(one, 24, { shrink: false }, outputOf);
    expect(plain.sent.at(-1)?.length).toBeGreaterThan(80_000);
    expect(plain.sent).toEqual(plain.own);
    const filtered = await append(one, 24, {}, outputOf);
    expect(filtered.sent.map(withoutResults)).toEqual(filtered.own.map(withoutResults));
    const size = (bodies: readonly string[]) => bodies.reduce((sum, { length }) => sum + length, 0);
    expect(size(filtered.sent)).toBeLessThan(size(filtered.own));
  });
});
