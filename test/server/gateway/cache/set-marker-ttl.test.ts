import { expect, test } from "vitest";
import { chooseTtlMs, PauseSample } from "../../../../src/server/cache/pauses.ts";
import { setMarkerTtl } from "../../../../src/server/gateway/cache/cache-watch.ts";

const mark = { cache_control: { type: "ephemeral" } };
const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
const build = (marker: object, text = "héllo") => ({
  system: [{ type: "text", text: "s", ...marker }],
  tools: [{ name: "t", ...marker }],
  messages: [
    { role: "user", content: 'says "cache_control":{"type":"ephemeral"}' },
    { role: "user", content: [{ type: "text", text, ...marker }] },
  ],
});
const change = (body: object, ttl: "5m" | "1h") => {
  const changed = setMarkerTtl([Buffer.from(JSON.stringify(body))], ttl);
  return changed && JSON.parse(Buffer.concat(changed).toString());
};

test("setting a lifetime changes every breakpoint, but no text that looks like a breakpoint", () => {
  expect(change(build(mark), "1h")).toEqual(build(hour));
  expect(change(build(hour), "5m")).toEqual(build(mark));
  // A mark of the whole request is the last breakpoint, which may not live longer than those before it.
  expect(change({ ...build(hour), ...hour }, "5m")).toEqual({ ...build(mark), ...mark });
  expect(change({ ...mark, messages: [] }, "1h")).toEqual({ ...hour, messages: [] });
  expect(change({ cache_control: null, messages: [] }, "1h")).toBeUndefined();
});

test("setting a lifetime changes nothing if every breakpoint has it already or there is none", () => {
  expect(change(build(mark), "5m")).toBeUndefined();
  expect(change(build({}), "1h")).toBeUndefined();
});

test("setting a lifetime changes nothing if a tool's own arguments contain such a field", () => {
  const body = build(mark);
  const call = { type: "tool_use", id: "a", name: "t", input: { cache_control: { type: "ephemeral" } } };
  expect(
    change({ ...body, messages: [...body.messages, { role: "assistant", content: [call] }] }, "1h"),
  ).toBeUndefined();
});

test("an hour of cache is chosen only where pauses between five minutes and an hour are frequent", () => {
  const prices = { read: 0.3, write: 3.75, writeHour: 6 };
  const choose = (minutes: number, share: number) => {
    const pauses = new PauseSample();
    for (let count = 0; count < 1_000; count++)
      pauses.observe((count % 100 < share * 100 ? minutes : 0.2) * 60_000, 80_000, 81_000);
    return chooseTtlMs(pauses, prices) / 60_000;
  };
  expect(choose(12, 0.2)).toBe(60);
  expect(choose(12, 0)).toBe(5);
  expect(choose(300, 0.2)).toBe(5);
  expect(chooseTtlMs(new PauseSample(), prices) / 60_000).toBe(5);
});
