import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseSplitter } from "../../../../../src/server/gateway/reply/relay/sse-splitter.ts";
import { proofRounds, sizedTest } from "../../../../support/proof.ts";

interface Seen {
  readonly raw: string;
  readonly event: string | undefined;
  readonly data: string | undefined;
}

/** All events of a stream in these chunks, including the rest. */
function split(chunks: readonly Buffer[], maxEventBytes?: number): { events: Seen[]; isCut: boolean } {
  const splitter = new SseSplitter(maxEventBytes === undefined ? {} : { maxEventBytes });
  const events = chunks.flatMap((chunk) => splitter.push(chunk));
  const { event: rest, isCut } = splitter.end();
  const seen = [...events, ...(rest ? [rest] : [])].map(({ raw, event, data, hasData }) => ({
    raw: raw.toString("latin1"),
    event,
    data: hasData ? data : undefined,
  }));
  return { events: seen, isCut };
}

const said = (text: string) =>
  split([Buffer.from(text)])
    .events.filter(({ data }) => data !== undefined)
    .map(({ event, data }) => [event, data]);

/** Cuts bytes at the given positions. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (one, other) => one - other,
  );
  return [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** The events parsed line by line according to the standard. */
function naive(bytes: Buffer): [string | undefined, string][] {
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  const events: [string | undefined, string][] = [];
  let name: string | undefined;
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/).slice(0, -1)) {
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line === "") {
      if (data.length > 0) events.push([name || undefined, data.join("\n")]);
      name = undefined;
      data = [];
    } else if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }
  return events;
}

const line = fc.oneof(
  fc.constantFrom(
    "data: {}",
    "data:",
    "data",
    "data:  x",
    "event: ping",
    "event:",
    "id: 1",
    ": comment",
    ":",
    "database: x",
  ),
  fc.constantFrom(
    "retry: 5",
    " data: x",
    "data: é€😀",
    "event: é",
    "\ufeffdata: x",
    "data: a:b: c",
    "dat",
    "eventual",
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[\r\n\ufeff]/g, "")),
);
const ending = fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r", "\n\r\n");
const stream = fc
  .tuple(
    fc.constantFrom("", "\ufeff"),
    fc.array(fc.tuple(line, ending), { maxLength: 20 }),
    fc.constantFrom("", "data: cut"),
  )
  .map(([mark, lines, rest]) => Buffer.from(mark + lines.flat().join("") + rest));

describe("SseSplitter", () => {
  test("SseSplitter reads the name and data of each event", () => {
    expect(said('event: ping\ndata: {"a":1}\n\ndata: x\ndata:y\n\n')).toEqual([
      ["ping", '{"a":1}'],
      [undefined, "x\ny"],
    ]);
  });

  test("SseSplitter takes any line end, a byte order mark and fields without a value", () => {
    expect(said("\ufeffdata: a\r\n\r\ndata: b\r\rdata\n\n: note\n\nevent: e\r\ndata: c\n\n")).toEqual([
      [undefined, "a"],
      [undefined, "b"],
      [undefined, ""],
      ["e", "c"],
    ]);
  });

  test("SseSplitter passes a comment on as soon as its line has ended", () => {
    const splitter = new SseSplitter();
    expect(splitter.push(Buffer.from(": keep-alive\n")).map(({ raw }) => raw.toString())).toEqual([
      ": keep-alive\n",
    ]);
    expect(splitter.push(Buffer.from("\ndata: x\n\n")).map(({ hasData }) => hasData)).toEqual([false, true]);
  });

  test("SseSplitter passes an event on as soon as it is complete", () => {
    const splitter = new SseSplitter();
    expect(splitter.push(Buffer.from("data: x\r\n"))).toEqual([]);
    expect(splitter.push(Buffer.from("\r\n")).map(({ data }) => data)).toEqual(["x"]);
    expect(splitter.push(Buffer.from("data: y\n"))).toEqual([]);
    expect(splitter.push(Buffer.from("\n")).map(({ data }) => data)).toEqual(["y"]);
  });

  test("SseSplitter says whether the stream was cut", () => {
    expect(split([Buffer.from("data: x\n\n")]).isCut).toBe(false);
    expect(split([Buffer.from("data: x\r\r")]).isCut).toBe(false);
    expect(split([Buffer.from("data: x\n")])).toMatchObject({ isCut: true, events: [{ data: "x" }] });
    expect(split([])).toEqual({ isCut: false, events: [] });
  });

  sizedTest("SseSplitter yields the same events, with all bytes, however the stream is cut", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), (bytes, places) => {
        const whole = split([bytes]);
        expect(split(cutAt(bytes, places))).toEqual(whole);
        expect(split(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
        expect(whole.events.map(({ raw }) => raw).join("")).toBe(bytes.toString("latin1"));
      }),
      { numRuns: proofRounds(500) },
    );
  });

  sizedTest("SseSplitter agrees with the event stream standard", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), (bytes, places) => {
        const { events, isCut } = split(cutAt(bytes, places));
        const whole = isCut ? events.slice(0, -1) : events;
        const dispatched = whole
          .filter(({ data }) => data !== undefined)
          .map(({ event, data }) => [event, data]);
        expect(dispatched).toEqual(naive(bytes));
      }),
      { numRuns: proofRounds(1_000) },
    );
  });

  test("an event beyond the limit is refused after the events before it", () => {
    const bytes = Buffer.from(`data: a\n\ndata: ${"x".repeat(100)}\n\n`);
    for (const size of [1, 7, 9, 20, 1_000]) {
      const splitter = new SseSplitter({ maxEventBytes: 64 });
      const seen: string[] = [];
      const run = () => {
        for (let at = 0; at < bytes.length; at += size)
          seen.push(...splitter.push(bytes.subarray(at, at + size)).map(({ data }) => data));
        splitter.end();
      };
      expect(run).toThrow(expect.objectContaining({ reason: "too-large" }));
      expect(seen).toEqual(["a"]);
    }
  });

  test("a large event in tiny pieces is put together", () => {
    const splitter = new SseSplitter();
    const text = "é".repeat(50_000);
    const bytes = Buffer.from(`data: ${text}\n\n`);
    const events = cutAt(
      bytes,
      Array.from({ length: 2_000 }, (_, at) => at * 51),
    ).flatMap((chunk) => splitter.push(chunk));
    expect(events.map(({ data }) => data === text)).toEqual([true]);
  });
});
