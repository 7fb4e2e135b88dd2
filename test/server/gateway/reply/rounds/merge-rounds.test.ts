import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXPAND_TOOL, RECALL_TOOL } from "../../../../../src/server/gateway/recall/recall-tools.ts";
import { ROUND_FORMATS } from "../../../../../src/server/gateway/reply/rounds/call-rounds.ts";
import type { WireEvent, WireName } from "../../../../../src/wire/wire.ts";
import { anthropic } from "../../../../support/wire-server/anthropic.ts";
import type { WireApi } from "../../../../support/wire-server/api.ts";
import type { Reply } from "../../../../support/wire-server/behaviour.ts";
import { openaiChat } from "../../../../support/wire-server/openai-chat.ts";
import { openaiResponses } from "../../../../support/wire-server/openai-responses.ts";
import { type Seen, seenBody, seenStream } from "../../recall/seen.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

const WIRES: readonly (readonly [OlderWireName, WireApi])[] = [
  ["anthropic", anthropic],
  ["openai-chat", openaiChat],
  ["openai-responses", openaiResponses],
];

const REQUEST = {
  path: "/v1/messages",
  body: { model: "m", stream: true, stream_options: { include_usage: true } },
};

const callArbitrary = fc.record({
  name: fc.constantFrom(RECALL_TOOL, EXPAND_TOOL, "read"),
  input: fc.record({ query: fc.string({ maxLength: 12 }) }),
});
const replyArbitrary: fc.Arbitrary<Reply> = fc
  .record({
    text: fc.option(fc.constantFrom("Let me look.", "Port 7781 it is.", "一 二"), { nil: undefined }),
    reasoning: fc.option(fc.constant("hm hm"), { nil: undefined }),
    calls: fc.array(callArbitrary, { maxLength: 3 }),
    output: fc.integer({ min: 1, max: 99 }),
  })
  .map(({ text, reasoning, calls, output }) => ({
    ...(text !== undefined && { text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(calls.length > 0 && {
      toolCalls: calls.map((call, index) => ({ id: `call_${index}_${output}`, ...call })),
    }),
    usage: { input: output * 10, output },
  }));

const isOwn = (name: string) => name === RECALL_TOOL || name === EXPAND_TOOL;
const isInner = ({ toolCalls = [] }: Reply) =>
  toolCalls.length > 0 && toolCalls.every(({ name }) => isOwn(name));

/** The requested rounds: up to the first reply that is more than recall calls, and at most `most`. */
function asked(replies: readonly Reply[], most: number): readonly Reply[] {
  const last = replies.findIndex((reply) => !isInner(reply));
  return replies.slice(0, Math.min(most, last < 0 ? replies.length : last) + 1);
}

describe.each(WIRES)("merged rounds of %s", (name, wire) => {
  const form = ROUND_FORMATS[name];
  const toEvents = (reply: Reply): readonly WireEvent[] =>
    wire.events(reply, REQUEST).map(({ event, data }) => ({
      ...(event !== undefined && { event }),
      data: typeof data === "string" ? data : JSON.stringify(data),
    }));
  const streamed = (replies: readonly Reply[], most: number): Seen => {
    const joiner = form.openStream(most);
    const sent: WireEvent[] = [];
    for (const [index, reply] of replies.entries()) {
      for (const event of toEvents(reply)) sent.push(...joiner.take(event));
      const next = joiner.next();
      expect(next !== undefined).toBe(index < replies.length - 1);
    }
    expect(joiner.hasEnded).toBe(true);
    return seenStream(name, sent.map(({ data }) => `data: ${data}\n\n`).join(""));
  };

  test("several rounds become one reply that a strict client accepts, streamed and unstreamed alike", () => {
    fc.assert(
      fc.property(
        fc.array(replyArbitrary, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(2, 4),
        (all, most) => {
          const replies = asked([...all, { text: "Done.", usage: { input: 9, output: 3 } }], most);
          const seen = streamed(replies, most);
          const bodies = replies.map((reply) => JSON.parse(JSON.stringify(wire.body(reply, REQUEST))));
          const whole = seenBody(name, form.mergeBodies(bodies));
          const said = replies.flatMap(({ text }) => text ?? []);
          expect(seen.texts.join("\n\n")).toBe(said.join("\n\n"));
          expect(whole.texts.join("\n\n")).toBe(said.join("\n\n"));
          const others = replies.flatMap(({ toolCalls = [] }) =>
            toolCalls.filter((call) => !isOwn(call.name)),
          );
          expect(seen.calls).toEqual(others);
          expect(whole.calls).toEqual(others);
          expect(seen.stop).toBe(whole.stop);
          expect(seen.usage).toEqual(whole.usage);
          const output = replies.reduce((sum, { usage }) => sum + (usage?.output ?? 0), 0);
          expect(seen.usage?.output_tokens ?? seen.usage?.completion_tokens).toBe(output);
          expect(JSON.stringify(seen)).not.toContain("longhaul_");
        },
      ),
    );
  });

  test("a round sends back everything that the model thought, said and called", () => {
    const joiner = form.openStream(4);
    const calls = [{ id: "a", name: RECALL_TOOL, input: { query: "x" } }];
    const reply: Reply = { reasoning: "hm hm", text: "Let me look.", toolCalls: calls };
    for (const event of toEvents(reply)) joiner.take(event);
    const streamed = joiner.next();
    const whole = form.readBody(JSON.parse(JSON.stringify(wire.body(reply, REQUEST)))).recallRound;
    expect(streamed).toEqual(whole);
    expect(JSON.stringify(streamed?.elements)).toContain("Let me look.");
    if (name === "anthropic") expect(JSON.stringify(streamed?.elements)).toContain('"signature":"c2lnbmVk"');
    if (name === "openai-chat")
      expect(JSON.stringify(streamed?.elements)).toContain('"reasoning_content":"hm hm"');
  });

  test("a reply without recalls stays as it was, event for event", () => {
    const reply = { text: "All done.", reasoning: "hm", toolCalls: [{ id: "a", name: "read", input: {} }] };
    const joiner = form.openStream(4);
    for (const event of toEvents(reply)) expect(joiner.take(event)).toEqual([event]);
    expect(joiner.next()).toBeUndefined();
    const body = JSON.parse(JSON.stringify(wire.body(reply, REQUEST)));
    expect(form.mergeBodies([body])).toBe(body);
  });

  test("a cut in a later round ends the reply with the words so far, unless a call of the client is incomplete", () => {
    const inner: Reply = {
      text: "Let me look.",
      toolCalls: [{ id: "a", name: RECALL_TOOL, input: { query: "x" } }],
    };
    const events = toEvents({ text: "It was two words", toolCalls: [{ id: "b", name: "read", input: {} }] });
    const isCalling = (event: WireEvent) => event.data.includes('"read"');
    for (let cut = 0; cut < events.length - 2; cut++) {
      const joiner = form.openStream(4);
      const sent = [...toEvents(inner).flatMap((event) => joiner.take(event))];
      expect(joiner.next()?.calls).toEqual([{ id: "a", name: RECALL_TOOL, input: { query: "x" } }]);
      sent.push(...events.slice(0, cut).flatMap((event) => joiner.take(event)));
      const ending = joiner.finish();
      expect(ending !== undefined).toBe(!events.slice(0, cut).some(isCalling));
      if (!ending) continue;
      const text = [...sent, ...ending].map(({ data }) => `data: ${data}\n\n`).join("");
      const seen = seenStream(name, text);
      expect(
        "Let me look.\n\nIt was two words".startsWith(seen.texts.filter((one) => one !== "").join("\n\n")),
      ).toBe(true);
      expect(seen.texts.join("")).toContain("Let me look.");
    }
  });
});
