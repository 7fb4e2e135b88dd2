import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  findMarkers,
  moveMarkers,
  placeMarkers,
  type SentElement,
} from "../../../../src/server/gateway/outgoing/cache-markers.ts";
import { getContentBlocks, isEmptyText, isThinking } from "../../../../src/wire/content-blocks.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { HAS_RECORDINGS } from "../recorded.ts";
import { countMarkers } from "./count-markers.ts";
import { readRequests } from "./recorded-elements.ts";

const mark = { type: "ephemeral" };
const hour = { type: "ephemeral", ttl: "1h" };
const user = (text: string, cache_control?: WireObject): WireObject => ({
  role: "user",
  content: [{ type: "text", text, ...(cache_control && { cache_control }) }],
});
const kept = (element: WireObject, index: number): SentElement => ({ element, index, isEdited: false });
const note: SentElement = { element: user("what was said before"), isEdited: true };

describe("cache markers", () => {
  test("cache markers are counted in system, tools, messages, tool results and for the whole request", () => {
    const result = {
      type: "tool_result",
      tool_use_id: "a",
      content: [{ type: "text", text: "x", cache_control: mark }],
    };
    expect(
      countMarkers({
        system: [{ type: "text", text: "s", cache_control: mark }],
        tools: [{ name: "t" }, { name: "u", cache_control: hour }],
        messages: [user("a", mark), { role: "user", content: [result] }, { role: "user", content: "plain" }],
        cache_control: mark,
      }),
    ).toBe(5);
    expect(countMarkers({ system: "plain", messages: [user("a")] })).toBe(0);
  });

  test("cache markers stay if nothing was changed", () => {
    const before = [user("a", mark), user("b"), user("c", mark)];
    const survivors = before.map(kept);
    expect(placeMarkers(before, survivors)).toEqual([]);
    expect(moveMarkers(before, survivors)).toEqual(survivors);
  });

  test("a cache marker whose message has left moves to the last block before it", () => {
    const before = [user("a"), user("b", hour), user("c", mark)];
    const survivors = [kept(user("a"), 0), kept(user("c", mark), 2)];
    expect(placeMarkers(before, survivors)).toEqual([{ element: 0, block: 0, value: hour }]);
    const moved = moveMarkers(before, survivors);
    expect(moved[0]).toEqual({ element: user("a", hour), index: 0, isEdited: true });
    expect(moved[1]).toBe(survivors[1]);
  });

  test("a cache marker moves to the note that replaces its message", () => {
    const before = [user("a"), user("b", mark), user("c")];
    expect(placeMarkers(before, [kept(user("a"), 0), note, kept(user("c"), 2)])).toEqual([
      { element: 1, block: 0, value: mark },
    ]);
  });

  test("a moved cache marker skips thinking, empty text and the assistant's latest message", () => {
    const assistant = (...content: readonly WireObject[]) => ({ role: "assistant", content });
    const thinking = { type: "thinking", thinking: "hm", signature: "s" };
    const before = [
      user("a"),
      assistant(thinking, { type: "text", text: " " }),
      user("b", mark),
      assistant(thinking),
    ];
    const survivors = [
      kept(user("a"), 0),
      kept(before[1] as WireObject, 1),
      kept(before[3] as WireObject, 3),
    ];
    expect(placeMarkers(before, survivors)).toEqual([{ element: 0, block: 0, value: mark }]);
  });

  test("two cache markers that would share a block become one marker", () => {
    const before = [user("a"), user("b", hour), user("c", mark), user("d")];
    expect(placeMarkers(before, [kept(user("a"), 0), kept(user("d"), 3)])).toEqual([
      { element: 0, block: 0, value: hour },
    ]);
  });

  test("a cache marker stays on an edited message, even if that was only a text", () => {
    const before = [user("a"), user("long", mark)];
    const survivors: SentElement[] = [
      kept(user("a"), 0),
      { element: { role: "user", content: "short" }, index: 1, isEdited: true },
    ];
    expect(moveMarkers(before, survivors)[1]?.element).toEqual(user("short", mark));
  });

  test("a cache marker that an edited message kept is not doubled", () => {
    const before = [user("a"), user("long", mark)];
    const survivors: SentElement[] = [
      kept(user("a"), 0),
      { element: user("short", mark), index: 1, isEdited: true },
    ];
    expect(moveMarkers(before, survivors)[1]?.element).toEqual(user("short", mark));
  });

  const block = fc.oneof(
    fc.constantFrom("one", "", " ", "two").map((text): WireObject => ({ type: "text", text })),
    fc.constantFrom<WireObject>(
      { type: "thinking", thinking: "t", signature: "s" },
      { type: "tool_use", id: "a", name: "n", input: {} },
      { type: "tool_result", tool_use_id: "a", content: "r" },
    ),
  );
  const request = fc
    .record({
      messages: fc.array(
        fc.record({
          role: fc.constantFrom("user", "assistant"),
          blocks: fc.array(block, { minLength: 1, maxLength: 3 }),
          fate: fc.constantFrom("kept", "kept", "edited", "gone"),
          isPlain: fc.boolean(),
          hasNote: fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0),
        }),
        { minLength: 1, maxLength: 10 },
      ),
      marks: fc.array(fc.tuple(fc.nat(9), fc.nat(2)), { maxLength: 4 }),
      hours: fc.nat(4),
    })
    .map(({ messages, marks, hours }) => {
      const places = new Set(marks.map(([element, at]) => `${element} ${at}`));
      let count = 0;
      const before = messages.map(({ role, blocks }, element) => ({
        role,
        content: blocks.map((own, at) => {
          const isMarked = places.has(`${element} ${at}`) && !isThinking(own) && !isEmptyText(own);
          return isMarked ? { ...own, cache_control: count++ < hours ? hour : mark } : own;
        }),
      }));
      const survivors = messages.flatMap(({ fate, isPlain, hasNote }, index): readonly SentElement[] => {
        const own = before[index] as WireObject;
        const edited = isPlain
          ? { role: own.role, content: "[left out]" }
          : { ...own, content: getContentBlocks(own).slice(0, 2) };
        const notes = hasNote ? [note] : [];
        if (fate === "gone") return notes;
        return [...notes, fate === "kept" ? kept(own, index) : { element: edited, index, isEdited: true }];
      });
      return { before, survivors };
    });

  sizedTest("cache markers keep their rules, whatever is edited", () => {
    fc.assert(
      fc.property(request, fc.integer({ min: 0, max: 4 }), ({ before, survivors }, most) => {
        const after = moveMarkers(before, survivors, most);
        const elements = after.map(({ element }) => element);
        const found = findMarkers(elements);
        const had = findMarkers(before);
        const staying = findMarkers(
          survivors.filter(({ isEdited }) => !isEdited).map(({ element }) => element),
        );
        expect(found.length).toBeLessThanOrEqual(Math.min(had.length, Math.max(most, staying.length)));
        expect(new Set(found.map(({ element, block: at }) => `${element} ${at}`)).size).toBe(found.length);
        for (const { element, block: at } of found) {
          const own = getContentBlocks(elements[element] as WireObject)[at] as WireObject;
          expect(isThinking(own) || isEmptyText(own)).toBe(false);
        }
        const lives = found.map(({ value }) => value.ttl ?? "5m");
        expect(lives.lastIndexOf("1h")).toBeLessThan(lives.includes("5m") ? lives.indexOf("5m") : 99);
        for (const [place, survivor] of survivors.entries()) {
          const bare = (element: WireObject) =>
            getContentBlocks(element).map(({ cache_control: _, ...rest }) => rest);
          expect(bare(elements[place] as WireObject)).toEqual(bare(survivor.element));
        }
        const latest = survivors.findLast(({ element }) => element.role === "assistant");
        if (latest && !latest.isEdited) expect(after).toContain(latest);
      }),
      { numRuns: proofRounds(2_000) },
    );
  });

  test.skipIf(!HAS_RECORDINGS)("real clients send at most four cache markers, which move with edits", () => {
    for (const { body, elements, file, api } of readRequests()) {
      if (api !== "anthropic") continue;
      const count = countMarkers(body);
      expect(count, file).toBeLessThanOrEqual(4);
      const cut = elements.flatMap((element, index) => (index % 3 === 1 ? [] : [kept(element, index)]));
      const lead = count - findMarkers(elements).length;
      const after = moveMarkers(elements, cut, 4 - lead);
      expect(lead + findMarkers(after.map(({ element }) => element)).length, file).toBeLessThanOrEqual(count);
    }
  });
});
