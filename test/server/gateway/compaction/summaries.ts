import { expect } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";
import type { TestAgent } from "../../../support/agent.ts";
import { logOf, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { says, startUpstream, type Upstream } from "../../../support/upstream.ts";
import { output, startLimitedUpstream } from "../limited.ts";
import { working } from "../long-session.ts";
import { textsIn } from "../said.ts";

/** Token count at which a client requests a summary; the minimum allowed. */
export const TRIGGER = 50_000;

/** A request for summaries. */
export function compacting(options: WireObject = {}): WireObject {
  const trigger = { type: "input_tokens", value: TRIGGER };
  return { edits: [{ type: "compact_20260112", trigger, ...options }] };
}

/** An upstream other than Anthropic's, for a session that calls a tool in every turn. */
export function startWorking(): Promise<Upstream & { readonly counts: readonly number[] }> {
  return startLimitedUpstream({
    api: "anthropic",
    window: 200_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: working,
  });
}

/** An upstream that numbers its replies. */
export function startCounting(): Promise<Upstream> {
  return startUpstream(
    says((_, index) => ({ text: `Answer ${index}.`, usage: { input: 1_000, output: 7 } })),
  );
}

/** The compaction block at the start of a message; undefined if it has none. */
export function blockOf(element: WireObject | undefined): { readonly content: string } | undefined {
  const blocks = (element?.content ?? []) as readonly WireObject[];
  for (const block of blocks.slice(1)) expect(block.type).not.toBe("compaction");
  const [first] = blocks;
  return first?.type === "compaction" ? (first as { readonly content: string } & WireObject) : undefined;
}

/** A message without its compaction block; empty if it has no other content. */
export function withoutBlock(element: WireObject): readonly WireObject[] {
  if (!Array.isArray(element.content)) return [element];
  const content = element.content.filter(({ type }: WireObject) => type !== "compaction");
  return content.length === 0 ? [] : [{ ...element, content }];
}

/** Long user messages, enough to make a summary due. */
export function longTalk(turns: number, characters = 8_000): WireObject[] {
  return Array.from({ length: turns }, (_, turn): readonly WireObject[] => [
    { role: "user", content: `Question ${turn}: what does this say?\n${output(turn + 1, characters)}` },
    { role: "assistant", content: [{ type: "text", text: `It says ${turn}.` }] },
  ]).flat();
}

/** Checks that the only conversation of a gateway contains the messages, each once, without our blocks. */
export async function expectSaid(gateway: TestGateway, said: readonly WireObject[]): Promise<void> {
  const [main, ...others] = await threadsOf(gateway);
  expect(others).toEqual([]);
  const log = (await logOf(await gateway.kernel.session(main?.id))).map(({ message }) => textsIn(message));
  const bare = said.flatMap(withoutBlock);
  expect(log).toEqual(
    getWire("anthropic")
      .decode(bare)
      .map(({ input }) => textsIn(input)),
  );
}

/** Elements that an upstream received. */
export function heardBy(upstream: Upstream, index = -1): readonly WireObject[] {
  return upstream.heard.at(index)?.json.messages;
}

/** Checks that elements contain a text verbatim in a user message. */
export function expectWords(elements: readonly WireObject[], text: string | undefined): void {
  expect(text ?? "").not.toBe("");
  const words = JSON.stringify(elements.filter(({ role }) => role === "user"));
  expect(words).toContain(JSON.stringify(text).slice(1, -1));
}

/** Checks that an upstream never received a block or field that only Anthropic knows. */
export function expectPlain(upstream: Upstream): void {
  for (const { json } of upstream.heard) {
    expect(json.context_management).toBeUndefined();
    for (const { role, content } of json.messages) {
      const blocks: readonly WireObject[] = Array.isArray(content) ? content : [];
      expect([role, ...blocks.map(({ type }) => type)]).not.toContain("compaction");
    }
  }
}

/** Sends the tool outputs of a session. */
export function handOver(agent: TestAgent, reply: Awaited<ReturnType<TestAgent["next"]>>, turn: number) {
  return agent.hand(reply.calls, ...reply.calls.map(() => output(turn, 8_000)));
}
