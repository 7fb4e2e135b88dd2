import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countLeadMarkers, moveLostMarkers } from "../../../../src/server/gateway/outgoing/cache-markers.ts";
import { findBrokenRules } from "../../../../src/server/gateway/outgoing/check-rules.ts";
import {
  type CutBody,
  cutBody,
  type OutgoingPiece,
} from "../../../../src/server/gateway/request/cut-body.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";

const mark = { cache_control: { type: "ephemeral" } };
const cutOf = (body: WireObject): CutBody => cutBody(Buffer.from(JSON.stringify(body)), "messages");
const marked = (isMarked: boolean) => (isMarked ? mark : {});
const user = (text: string, isMarked = false): WireObject => ({
  role: "user",
  content: [{ type: "text", text, ...marked(isMarked) }],
});
const system = (...marks: readonly boolean[]) =>
  marks.map((isMarked) => ({ type: "text", text: "s", ...marked(isMarked) }));
const tools = (...marks: readonly boolean[]) =>
  marks.map((isMarked, index) => ({ name: `t${index}`, input_schema: {}, ...marked(isMarked) }));

describe("markers outside the messages", () => {
  test("markers are counted in the system prompt, in tools and on the whole request", () => {
    const messages = [user("a", true)];
    expect(countLeadMarkers(cutOf({ messages }))).toBe(0);
    expect(countLeadMarkers(cutOf({ system: "words", tools: tools(false), messages }))).toBe(0);
    expect(countLeadMarkers(cutOf({ system: system(true, true), tools: tools(true), messages }))).toBe(3);
    expect(countLeadMarkers(cutOf({ ...mark, system: system(true), messages }))).toBe(2);
  });

  test("counting markers ignores fields that merely share the name", () => {
    const schema = { properties: { cache_control: { type: "string" } } };
    const named = { name: "t", input_schema: schema, cache_control: null };
    expect(countLeadMarkers(cutOf({ cache_control: null, tools: [named], messages: [] }))).toBe(0);
    expect(countLeadMarkers(cutOf({ system: 'say "cache_control"', messages: [] }))).toBe(0);
  });
});

describe("an edited request", () => {
  const messages = [user("a"), user("b", true)];
  const edited = (isMarked: boolean): readonly OutgoingPiece[] => [
    { elements: [user("stub", isMarked)], index: 0 },
    { from: 1, to: 2 },
  ];

  test("an edited request with more markers than the provider allows in total fails the check", () => {
    const full = cutOf({ system: system(true, true), tools: tools(true), messages });
    expect(findBrokenRules("anthropic", full, edited(false))).toEqual([]);
    expect(findBrokenRules("anthropic", full, edited(true))).toEqual([
      { rule: "too-many-markers", element: 1 },
    ]);
    const roomy = cutOf({ system: system(true, false), tools: tools(true), messages });
    expect(findBrokenRules("anthropic", roomy, edited(true))).toEqual([]);
  });

  test("an edit is not blamed for a client that sends too many markers", () => {
    const own = cutOf({ system: system(true, true, true, true), messages });
    expect(findBrokenRules("anthropic", own, edited(false))).toEqual([]);
  });

  test("moving markers never yields too many markers, whatever has left", () => {
    const request = fc.record({
      system: fc.array(fc.boolean(), { maxLength: 3 }),
      tools: fc.array(fc.boolean(), { maxLength: 3 }),
      messages: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      fates: fc.array(fc.constantFrom("stays", "leaves", "changes"), { minLength: 8, maxLength: 8 }),
    });
    fc.assert(
      fc.property(request, ({ fates, ...marks }) => {
        const said = marks.messages.map((isMarked, index) => user(`${index}`, isMarked));
        const cut = cutOf({ system: system(...marks.system), tools: tools(...marks.tools), messages: said });
        const pieces = said.flatMap((_, index): readonly OutgoingPiece[] => {
          if (fates[index] === "leaves" && index > 0) return [];
          if (fates[index] === "changes") return [{ elements: [user("stub")], index }];
          return [{ from: index, to: index + 1 }];
        });
        expect(findBrokenRules("anthropic", cut, moveLostMarkers(cut, pieces))).toEqual([]);
      }),
    );
  });
});

test("markers are found alike with and without an earlier search of the body", () => {
  const list = fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.boolean()), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(list, list, list, (common, old, now) => {
      const toBody = (rows: readonly (readonly [string, boolean])[]) =>
        Buffer.from(JSON.stringify({ messages: rows.map(([text, isMarked]) => user(text, isMarked)) }));
      const edit = (cut: CutBody) => moveLostMarkers(cut, [{ elements: [user("stub")], index: 0 }]);
      const earlier = cutBody(toBody([...common, ...old]), "messages");
      edit(earlier);
      const bytes = toBody([...common, ...now]);
      const cut = cutBody(bytes, "messages", () => [earlier]);
      expect(edit(cut)).toEqual(edit(cutBody(bytes, "messages")));
      expect(cut.memo.markedElements).toEqual(
        [...common, ...now].flatMap(([, isMarked], index) => (isMarked ? [index] : [])),
      );
    }),
  );
});
