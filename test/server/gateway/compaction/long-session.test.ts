import { describe, expect } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import {
  blockOf,
  compacting,
  expectPlain,
  expectSaid,
  expectWords,
  handOver,
  heardBy,
  startWorking,
  withoutBlock,
} from "./summaries.ts";

const TURNS = 50;
/** Maximum size of a window: the trigger plus one turn. */
const MAX_TOKENS = 60_000;

/** Runs an agent that applies `keep` to its history after each reply. */
async function workWith(keep: (agent: TestAgent) => void) {
  const upstream = await startWorking();
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  agent.fields.context_management = compacting();
  const said: WireObject[] = [];
  const summaries: { readonly at: number; readonly text: string }[] = [];
  let reply = await agent.say("Go through all files of the project and keep a list of what is wrong.");
  said.push(...agent.elements);
  for (let turn = 1; turn < TURNS; turn++) {
    keep(agent);
    const known = agent.elements.length;
    reply = await handOver(agent, reply, turn);
    said.push(...agent.elements.slice(known));
    const block = blockOf(agent.elements.at(-1));
    if (block) summaries.push({ at: turn, text: block.content });
  }
  return { upstream, gateway, agent, said, summaries };
}

describe("a client that keeps compaction blocks", () => {
  proofTest("a client that keeps compaction blocks and all messages has a small window", async () => {
    const { upstream, gateway, said, summaries } = await workWith(() => {});
    expect(summaries.length).toBeGreaterThan(1);
    expect(Math.max(...upstream.counts)).toBeLessThan(MAX_TOKENS);
    expectPlain(upstream);
    for (const { at, text } of summaries) expectWords(heardBy(upstream, at), text);
    // No summary is sent again that the client sent back.
    const texts = summaries.map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    await expectSaid(gateway, said);
  });

  proofTest("a client that drops the messages before a compaction block stays in its session", async () => {
    const { upstream, gateway, agent, said, summaries } = await workWith((agent) => {
      const place = agent.elements.findLastIndex((element) => blockOf(element));
      if (place > 0) agent.elements = agent.elements.slice(place);
    });
    expect(summaries.length).toBeGreaterThan(1);
    expect(agent.elements.length).toBeLessThan(TURNS);
    expect(Math.max(...upstream.counts)).toBeLessThan(MAX_TOKENS);
    expectPlain(upstream);
    // The next request begins as the provider's cache knows it, although the client no longer sends that part.
    for (const { at } of summaries.slice(0, -1)) {
      const before = wordsOf(heardBy(upstream, at));
      expect(wordsOf(heardBy(upstream, at + 1)).slice(0, before.length)).toEqual(before);
    }
    await expectSaid(gateway, said);
  });
});

describe("a client that forgets compaction blocks", () => {
  proofTest("a client that drops compaction blocks goes on, and each reply has the summary", async () => {
    const { upstream, gateway, said, summaries } = await workWith((agent) => {
      agent.elements = agent.elements.flatMap(withoutBlock);
    });
    expect(summaries.length).toBeGreaterThan(TURNS / 4);
    expectPlain(upstream);
    expect(Math.max(...upstream.counts)).toBeLessThan(MAX_TOKENS);
    await expectSaid(gateway, said);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });
});

/** The content of elements, as text or blocks, without thinking. */
function wordsOf(elements: readonly WireObject[]): readonly unknown[] {
  return elements.map(({ role, content }) => {
    const blocks =
      typeof content === "string" ? [{ type: "text", text: content }] : (content as WireObject[]);
    return [role, ...blocks.filter(({ type }) => type !== "thinking")];
  });
}
