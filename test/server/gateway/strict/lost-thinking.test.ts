import { expect } from "vitest";
import { type AskedCall, TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import { startStrictUpstream } from "../../../support/strict-upstream.ts";
import { output } from "../limited.ts";

const MODEL = "claude-opus-5-5";
const WINDOW = 16_000;
const LOST = /^longhaul_reasoning_lost_total\{api="anthropic",by="longhaul"\} (\d+)$/m;

proofTest("the thinking that an edit takes away is announced, counted once, and not sent back", async () => {
  const upstream = await startStrictUpstream({
    reply: (_, index) => ({
      reasoning: `Thought ${index}: ${output(index, 100)}`,
      toolCalls: [{ id: `call_${index}`, name: "read_file", input: { path: `src/part${index}.ts` } }],
    }),
  });
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { models: { [MODEL]: { window: WINDOW } } },
  });
  const agent = new TestAgent(gateway, "anthropic");
  agent.fields.model = MODEL;
  agent.elements.push(...agent.words("Read all parts."));
  let calls: readonly AskedCall[] = [];
  const edits = () => gateway.logged.filter(({ event }) => event === "edit");
  const ask = async (turn: number) => {
    if (calls.length > 0)
      agent.elements.push(
        ...agent.results(
          calls,
          calls.map(() => output(turn, 4_000)),
        ),
      );
    const answer = await agent.send({ body: JSON.stringify(agent.body()) });
    expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    const reply = agent.read(answer.text);
    calls = reply.calls;
    agent.elements.push(...reply.elements);
  };
  const readLost = async () =>
    Number(LOST.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1] ?? 0);
  let turn = 0;
  while (edits().length === 0 && turn < 60) await ask(turn++);
  const announced = Number(/(\d+) thinking blocks? left/.exec(String(edits()[0]?.message))?.[1]);
  expect(announced).toBeGreaterThan(0);
  const lost = await readLost();
  expect(lost).toBeGreaterThanOrEqual(announced);
  expect(lost).toBeLessThanOrEqual(turn);
  await ask(turn++);
  await ask(turn++);
  expect(edits()).toHaveLength(1);
  expect(await readLost()).toBe(lost);
  expect(upstream.refusals()).toEqual([]);
});
