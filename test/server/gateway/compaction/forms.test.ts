import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildCanonicalKey } from "../../../../src/server/gateway/identity/canonical-key.ts";
import {
  buildPlainPieces,
  listPieceElements,
} from "../../../../src/server/gateway/outgoing/outgoing-pieces.ts";
import { createSummaryInserter } from "../../../../src/server/gateway/reply/answer-with-summary.ts";
import { type CutBody, cutBody } from "../../../../src/server/gateway/request/cut-body.ts";
import {
  findCompactions,
  splitAtSummary,
  useClientHistory,
} from "../../../../src/server/gateway/request/find-compactions.ts";
import { readMessages } from "../../../../src/server/gateway/request/request-messages.ts";
import { buildCompactionBlock } from "../../../../src/wire/anthropic/compaction-block.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";

const api = getWire("anthropic");
const reading = { api, stored: (input: Parameters<typeof buildCanonicalKey>[0]) => input as never };

const words = fc.stringMatching(/^[a-z"\\ ]{0,12}x$/);
const block = fc.oneof(
  { weight: 3, arbitrary: words.map((text) => ({ type: "text", text })) },
  { weight: 2, arbitrary: words.map((content) => ({ type: "compaction", content })) },
  { weight: 1, arbitrary: fc.constant({ type: "compaction", content: null }) },
);
const element = fc.record({
  role: fc.constantFrom("user", "assistant"),
  content: fc.oneof(words, fc.array(block, { minLength: 1, maxLength: 4 })),
});
const conversation = fc.array(element, { minLength: 1, maxLength: 8 });

function cutOf(messages: readonly WireObject[]): CutBody {
  return cutBody(Buffer.from(JSON.stringify({ model: "m", messages })), "messages");
}

const isSummary = (one: WireObject) => one.type === "compaction" && typeof one.content === "string";
const blocksOf = ({ content }: WireObject) =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly WireObject[]);

describe("a request with compaction blocks", () => {
  test("a request with compaction blocks goes out as its last summary and the messages after it", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const cut = cutOf(messages);
        const found = findCompactions(cut);
        const all = messages.flatMap((one) => blocksOf(one).map((part) => ({ role: one.role, part })));
        expect(found !== undefined).toBe(all.some(({ part }) => part.type === "compaction"));
        if (!found) return;
        const sent = listPieceElements(cut, buildPlainPieces(cut, found));
        const last = all.findLastIndex(({ part }) => isSummary(part));
        const summary = all[last]?.part as WireObject | undefined;
        const behind = all.slice(last + 1).filter(({ part }) => part.type !== "compaction");
        expect(found.last?.text).toBe(summary?.content);
        const flat = sent.flatMap((one) => blocksOf(one).map((part) => ({ role: one.role, part })));
        const lead = summary ? [{ role: "user", part: { type: "text", text: summary.content } }] : [];
        expect(flat).toEqual([...lead, ...behind]);
      }),
    );
  });

  test("messages have the same keys with and without compaction blocks", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const cut = cutOf(messages);
        const found = findCompactions(cut);
        if (!found) return;
        const said = readMessages(reading, cut);
        const since = splitAtSummary(reading, said, { ...found, last: undefined });
        const own = useClientHistory(reading, said, since, undefined);
        const bare = messages.flatMap((one) => {
          const content = blocksOf(one).filter(({ type }) => type !== "compaction");
          return content.length === 0 ? [] : [{ ...one, content }];
        });
        expect(own.list.map(({ key }) => key)).toEqual(
          api.decode(bare).map(({ input }) => buildCanonicalKey(input)),
        );
        expect(own.list.map(({ index }) => index)).toEqual(own.list.map((_, index) => index));
        expect(own.list.map((message) => buildCanonicalKey(message.input()))).toEqual(
          own.list.map(({ key }) => key),
        );
      }),
    );
  });
});

describe("a reply that begins with a summary", () => {
  const usage = fc.record({ input_tokens: fc.nat(9_999), output_tokens: fc.nat(999) });
  const content = fc.array(words.map((text) => ({ type: "text", text })));

  test("a reply after a compaction gets one more block and the usage of each step", () => {
    fc.assert(
      fc.property(content, usage, words, (blocks, counts, text) => {
        const reply = { type: "message", role: "assistant", content: blocks, usage: counts };
        const told = JSON.parse(createSummaryInserter(text).change(JSON.stringify(reply)) ?? "");
        const { iterations, ...rest } = told.usage;
        expect({ ...told, usage: rest }).toEqual({
          ...reply,
          content: [buildCompactionBlock(text), ...blocks],
        });
        expect(iterations).toMatchObject([
          { type: "compaction", input_tokens: 0, output_tokens: 0 },
          { type: "message", ...counts },
        ]);
      }),
    );
  });

  test("no summary is added to an error, to invalid JSON, or to a stream without a beginning", () => {
    const { change, eventsAfter: behind } = createSummaryInserter("words");
    for (const data of [
      "",
      "[DONE]",
      "{",
      '{"type":"error","error":{"type":"overloaded_error"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","usage":{"output_tokens":1}}',
    ]) {
      expect(change(data)).toBeUndefined();
      expect(behind(data)).toBe("");
    }
  });
});
