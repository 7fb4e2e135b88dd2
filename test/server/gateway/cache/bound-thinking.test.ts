import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  bindThinking,
  listBindings,
  type ThoughtBinding,
  UNREPEATABLE,
  withBinding,
} from "../../../../src/server/gateway/cache/bound-thinking.ts";
import type { BodyChanges } from "../../../../src/server/gateway/outgoing/outgoing-body.ts";
import { buildOutgoingBody } from "../../../../src/server/gateway/outgoing/outgoing-body.ts";
import { cutBody } from "../../../../src/server/gateway/request/cut-body.ts";

type Element = { readonly [name: string]: unknown };

const ask = (text: string): Element => ({ role: "user", content: text });
const answer = (name: string): Element => ({
  role: "assistant",
  content: [
    { type: "thinking", thinking: `about ${name}`, signature: `signature-${name}` },
    { type: "text", text: `reply ${name}` },
  ],
});
const HEAD = { system: [{ type: "text", text: "Be brief." }], tools: [{ name: "Read", input_schema: {} }] };

/** A client with its conversation, whose requests another program changes on their way. */
function createTalk(messages: readonly Element[], bindings = new Map<number, ThoughtBinding>(), head = HEAD) {
  const cut = cutBody(Buffer.from(JSON.stringify({ ...head, messages })), "messages");
  return {
    send(changes: BodyChanges = { pieces: undefined }, from?: number) {
      const bound = bindThinking("anthropic", cut, changes, bindings, from);
      const body = Buffer.concat(buildOutgoingBody({ cut }, bound.changes)).toString();
      const sent = JSON.parse(body) as { readonly messages: readonly Element[] };
      return { ...bound, sent: sent.messages, thinking: body.match(/signature-\w+/g) ?? [] };
    },
  };
}

const bind = (name: string, binding: ThoughtBinding | undefined) =>
  binding ? new Map([[crc32(`signature-${name}`), binding]]) : new Map<number, ThoughtBinding>();

const talk = [ask("one"), answer("a"), ask("two"), answer("b"), ask("three"), answer("c"), ask("four")];
/** The second question is left out. */
const SHORTER: BodyChanges = {
  pieces: [
    { from: 0, to: 2 },
    { from: 3, to: 7 },
  ],
};

describe("thinking of a request", () => {
  test("a request of the client stays as it is", () => {
    const { changes, binding, lost, thinking } = createTalk(talk).send();
    expect([changes.pieces, binding, lost]).toEqual([undefined, undefined, 0]);
    expect(thinking).toEqual(["signature-a", "signature-b", "signature-c"]);
  });

  test("thinking behind a change leaves, and thinking before it stays", () => {
    const { lost, thinking, sent } = createTalk(talk).send(SHORTER);
    expect(thinking).toEqual(["signature-a"]);
    expect(lost).toBe(2);
    expect(sent[2]).toEqual({ role: "assistant", content: [{ type: "text", text: "reply b" }] });
  });

  test("the thinking of a reply to a changed request stays as long as that change stays", () => {
    const { binding } = createTalk(talk).send(SHORTER);
    const longer = [...talk, answer("d"), ask("five")];
    const changes: BodyChanges = {
      pieces: [
        { from: 0, to: 2 },
        { from: 3, to: 9 },
      ],
    };
    const next = createTalk(longer, bind("d", binding));
    expect(next.send(changes).thinking).toEqual(["signature-a", "signature-d"]);
    // Without the change, the beginning of the reply is gone, and that of the earlier replies is back.
    expect(next.send().thinking).toEqual(["signature-a", "signature-b", "signature-c"]);
  });

  test("a thought that was left out stays out while a later one holds that did not follow it", () => {
    const refused = createTalk(talk).send({ pieces: undefined, fields: new Map([["system", "Else."]]) });
    expect(refused.thinking).toEqual([]);
    const { binding } = createTalk(talk).send(SHORTER, 1);
    expect(binding?.before).toBe(0);
    const next = createTalk([...talk, answer("d"), ask("five")], bind("d", binding));
    const changes: BodyChanges = {
      pieces: [
        { from: 0, to: 2 },
        { from: 3, to: 9 },
      ],
    };
    expect(next.send(changes).thinking).toEqual(["signature-d"]);
  });

  test.each([
    ["another system prompt", { fields: new Map([["system", "Be long."]]) }],
    [
      "a text after the system prompt",
      { appended: new Map([["system", [{ type: "text", text: "Also." }]]]) },
    ],
    ["one more tool", { appended: new Map([["tools", [{ name: "recall" }]]]) }],
  ])("%s takes all thinking away", (_, changes) => {
    expect(createTalk(talk).send({ pieces: undefined, ...changes }).thinking).toEqual([]);
  });

  test("a deferred tool and a moved breakpoint take no thinking away", () => {
    const { binding } = createTalk(talk).send({
      pieces: undefined,
      appended: new Map([["tools", [{ name: "recall", defer_loading: true }]]]),
    });
    const marked = {
      ...ask("four"),
      content: [{ type: "text", text: "four", cache_control: { type: "ephemeral" } }],
    };
    const next = createTalk([...talk.with(6, marked), answer("d"), ask("five")], bind("d", binding));
    expect(
      next.send({
        pieces: undefined,
        appended: new Map([["tools", [{ name: "other", defer_loading: true }]]]),
      }).thinking,
    ).toContain("signature-d");
  });

  test("a message of nothing but lost thinking leaves with it", () => {
    const only = { role: "assistant", content: [{ type: "redacted_thinking", data: "signature-b" }] };
    const { sent } = createTalk(talk.with(3, only)).send(SHORTER);
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  });

  test("the thinking of a reply after hidden rounds is never sent back", () => {
    const { thinking } = createTalk(talk, bind("b", UNREPEATABLE)).send();
    expect(thinking).toEqual(["signature-a", "signature-c"].slice(0, thinking.length));
    expect(thinking).not.toContain("signature-b");
  });
});

describe("what a reply remembers", () => {
  const part = { type: "reasoning", text: "hm", opaque: "signature-x" } as const;
  const reply = { role: "assistant", parts: [part, { type: "text", text: "hi" }] } as const;

  test("its binding is found by its thoughts", () => {
    const marked = withBinding(reply, { prefix: 7, before: 9 });
    const message = { role: "assistant", parts: [], meta: marked.meta ?? {} } as const;
    expect([...listBindings([message])]).toEqual([[crc32("signature-x"), { prefix: 7, before: 9 }]]);
  });

  test("a reply without thinking remembers nothing", () => {
    const plain = { role: "assistant", parts: [{ type: "text", text: "hi" }] } as const;
    expect(withBinding(plain, { prefix: 7, before: 9 })).toBe(plain);
  });
});
