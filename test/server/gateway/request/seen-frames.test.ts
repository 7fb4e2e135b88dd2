import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import type { GatewayConfig } from "../../../../src/server/gateway/config/config.ts";
import { cutBody } from "../../../../src/server/gateway/request/cut-body.ts";
import { type ParsedRequest, parseRequest } from "../../../../src/server/gateway/request/read-request.ts";
import { ReferencedItems } from "../../../../src/server/gateway/request/referenced-items.ts";
import { SeenBodies, SeenFrames } from "../../../../src/server/gateway/request/seen-bodies.ts";
import type { WireName } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

const message = fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.string() });
const rest = fc.dictionary(
  fc.string().filter((name) => name !== "messages" && name !== "__proto__"),
  fc.jsonValue(),
);

function bodyOf(before: object, messages: readonly unknown[], after: object): Buffer {
  return Buffer.from(JSON.stringify({ ...before, messages, ...after }));
}

/** The beginning of a body, longer than the bytes by which frames are found. */
const BEFORE = `{"a":${JSON.stringify("x".repeat(200))},"messages":[]`;

/** Services for reading requests, without any earlier request. */
function createServices() {
  return {
    bodies: new SeenBodies(() => 10_000_000),
    items: new ReferencedItems(() => ({ items: 100, itemBytes: 100_000 })),
    config: () => ({ redact: false }) as GatewayConfig,
    stored: (input: MessageInput) => input,
  };
}

function describeRequest({ fields, facts, messages }: ParsedRequest): unknown {
  const { cut, lead, list } = messages;
  return {
    fields,
    facts,
    lead,
    ranges: [...cut.fields],
    elements: cut.elements,
    list: list.map((one) => ({ key: one.key, from: one.from, to: one.to, input: one.input() })),
  };
}

describe("remembered frames", () => {
  sizedTest("a remembered frame gives the fields that a scan of the body gives, whatever follows", () => {
    fc.assert(
      fc.property(
        rest,
        rest,
        rest,
        fc.array(message),
        fc.array(message),
        (before, after, other, old, fresh) => {
          const frames = new SeenFrames(() => 1_000_000);
          const first = bodyOf(before, old, after);
          frames.keep("owner", cutBody(first, "messages"), "messages");
          for (const end of [after, other]) {
            const bytes = bodyOf(before, fresh, end);
            const whole = cutBody(bytes, "messages");
            const frame = frames.find("owner", bytes);
            const cut = cutBody(bytes, "messages", undefined, frame);
            expect([...cut.fields]).toEqual([...whole.fields]);
            expect(cut.elements).toEqual(whole.elements);
            expect(cut.listFrom).toBe(whole.listFrom);
          }
          expect(frames.find("somebody else", first)).toBeUndefined();
        },
      ),
      { numRuns: proofRounds(300) },
    );
  });

  test("a remembered frame does not hide a field that stands before and after the list", () => {
    const frames = new SeenFrames(() => 1_000_000);
    frames.keep("owner", cutBody(Buffer.from(`${BEFORE}}`), "messages"), "messages");
    const twice = Buffer.from(`${BEFORE},"a":2}`);
    const frame = frames.find("owner", twice);
    expect(frame).toBeDefined();
    expect(() => cutBody(twice, "messages", undefined, frame)).toThrow("stands there twice");
  });

  test.each(["{}}", "{}]", "{} x", "{}", ""])("a remembered frame refuses a body ending with %j", (end) => {
    const frames = new SeenFrames(() => 1_000_000);
    frames.keep("owner", cutBody(Buffer.from(`${BEFORE}}`), "messages"), "messages");
    const bytes = Buffer.from(`${BEFORE.slice(0, -1)}{}]${end}`);
    const frame = frames.find("owner", bytes);
    expect(frame).toBeDefined();
    expect(() => cutBody(bytes, "messages", undefined, frame)).toThrow();
    expect(() => cutBody(bytes, "messages")).toThrow();
  });

  test.each(["anthropic", "openai-chat"] satisfies WireName[])(
    "remembered frames of %s requests give what a gateway without earlier requests reads",
    async (api) => {
      const shared = createServices();
      const prompts = ["You are one agent.", "You are another agent."];
      const turns = [1, 2, 3, 4].flatMap((length) => prompts.map((prompt) => ({ prompt, length })));
      for (const { prompt, length } of turns) {
        const talk = Array.from({ length }, (_, index) => ({
          role: index % 2 === 0 ? "user" : "assistant",
          content: `message ${index}`,
        }));
        const isChat = api === "openai-chat";
        const body = bodyOf(
          { model: "m", max_tokens: length > 3 ? 20 : 10, ...(!isChat && { system: prompt }) },
          isChat ? [{ role: "system", content: prompt }, ...talk] : talk,
          { stream: true, tools: [{ name: "read", description: prompt }] },
        );
        const read = await parseRequest(getWire(api), body, "somebody", shared);
        shared.bodies.keep(`somebody ${api}`, read.messages);
        const alone = await parseRequest(getWire(api), body, "somebody", createServices());
        expect(describeRequest(read)).toEqual(describeRequest(alone));
      }
    },
  );

  test("remembered frames stay within their limit of bytes", () => {
    const frames = new SeenFrames(() => 20_000);
    for (let index = 0; index < 100; index++) {
      const cut = cutBody(bodyOf({ index, system: "x".repeat(500) }, [], {}), "messages");
      frames.keep("owner", cut, "messages");
      expect(frames.sizeBytes).toBeLessThanOrEqual(20_000);
    }
    expect(frames.sizeBytes).toBeGreaterThan(0);
    frames.drop();
    expect(frames.sizeBytes).toBe(0);
  });
});
