import assert from "node:assert/strict";
import type { Message, MessageInput } from "../../model/message.ts";
import { toInlineMessages } from "../../wire/inline-messages.ts";
import type { Wire, WireObject } from "../../wire/wire.ts";
import { buildRequest, PIXEL, readRequestInputs, toStoredParts } from "./wire-fixtures.ts";
import type { WireProof } from "./wire-proof.ts";

const conversation: readonly MessageInput[] = [
  { role: "system", text: "Be brief." },
  { role: "user", text: "Which files are here?" },
  {
    role: "assistant",
    parts: [
      { type: "text", text: "I will look." },
      { type: "tool-call", callId: "call_1", name: "list", input: { path: ".", depth: [1, null] } },
      { type: "tool-call", callId: "call_2", name: "read", input: {} },
    ],
  },
  { role: "tool", parts: [{ type: "tool-result", callId: "call_1", output: "a.txt\nb.txt" }] },
  {
    role: "tool",
    parts: [{ type: "tool-result", callId: "call_2", isError: true, output: "no such file" }],
  },
  { role: "assistant", text: "Two: a.txt and b.txt. “Fine”, 好." },
  { role: "user", text: "Thanks." },
];

/** The messages of the sample, with the elements that they were made from. */
async function logSample(
  wire: Wire,
  elements: readonly WireObject[],
): Promise<readonly { readonly original: Message; readonly elements: readonly WireObject[] }[]> {
  const decoded = wire.decode(elements);
  const { messages } = await toInlineMessages(decoded.map(({ input }) => input));
  return messages.map((original, index) => {
    const { from, to } = decoded[index] as (typeof decoded)[number];
    return { original, elements: elements.slice(from, to) };
  });
}

const unavailable = async () => undefined;

export const messageCases: readonly WireProof[] = [
  [
    "messages: text, calls, results and failures come back from a request",
    async (wire) => {
      const decoded = readRequestInputs(wire, await buildRequest(wire, conversation));
      const parts = (await toStoredParts(decoded)).flatMap(({ parts: some }) => some);
      assert.deepEqual(
        parts,
        (await toStoredParts(conversation)).flatMap(({ parts: some }) => some),
      );
      const roles = (inputs: readonly MessageInput[]) =>
        inputs.map(({ role }) => role).filter((role, index, all) => role !== all[index - 1]);
      assert.deepEqual(roles(decoded), roles(conversation));
    },
  ],
  [
    "messages: media come back from a request",
    async (wire) => {
      const seen: MessageInput = {
        role: "user",
        parts: [
          { type: "text", text: "Look." },
          { type: "data", data: PIXEL },
        ],
      };
      const decoded = readRequestInputs(wire, await buildRequest(wire, [seen]));
      assert.deepEqual(await toStoredParts(decoded), await toStoredParts([seen]));
    },
  ],
  [
    "messages: a call without a result gets one, because providers refuse it otherwise",
    async (wire) => {
      const open = conversation.slice(0, 3);
      const request = await buildRequest(wire, [...open, { role: "user", text: "Go on." }]);
      const results = (request[wire.messagesField] as readonly WireObject[]).slice(open.length - 1);
      for (const id of ["call_1", "call_2"]) assert.ok(JSON.stringify(results).includes(id), id);
    },
  ],
  [
    "messages: each covers its own elements, in order",
    async (wire, { elements }) => {
      let before = 0;
      for (const { from, to } of wire.decode(elements)) {
        assert.ok(from >= before && to > from && to <= elements.length);
        before = to;
      }
      assert.ok(elements.every((element) => wire.isMessage(element)));
    },
  ],
  [
    "messages: the ids of calls are those of their results",
    async (wire, { elements }) => {
      const parts = wire.decode(elements).flatMap(({ input }) => input.parts ?? []);
      const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
      const results = parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
      assert.ok(calls.length > 0);
      assert.deepEqual(results, calls);
      for (const id of calls) assert.ok(JSON.stringify(elements).includes(JSON.stringify(id)));
    },
  ],
  [
    "messages: elements that nobody edited stay the same",
    async (wire, sample) => {
      for (const own of await logSample(wire, sample.elements))
        assert.deepEqual(await wire.encodeEdited({ ...own.original }, own, unavailable), own.elements);
    },
  ],
  [
    "messages: an edit of one part keeps unknown fields",
    async (wire, sample) => {
      for (const own of await logSample(wire, sample.elements)) {
        const at = own.original.parts.findIndex(({ type }) => type === "text");
        if (at < 0) continue;
        const parts = own.original.parts.with(at, { type: "text", text: "EDITED" });
        const encoded = JSON.stringify(await wire.encodeEdited({ ...own.original, parts }, own, unavailable));
        assert.ok(encoded.includes("EDITED"));
        for (const mark of ['"x_unknown":"kept"', '"x_block":"kept"'])
          assert.equal(encoded.includes(mark), JSON.stringify(own.elements).includes(mark), mark);
      }
    },
  ],
  [
    "messages: unknown fields of a block survive the log",
    async (wire, { elements }) => {
      const inputs = wire.decode(elements).map(({ input }) => input);
      assert.ok(JSON.stringify(await buildRequest(wire, inputs)).includes('"x_block":"kept"'));
    },
  ],
];
