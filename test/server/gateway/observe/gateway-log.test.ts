import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createGatewayLog,
  type GatewayLogOptions,
  type LogFields,
  type LogLevel,
} from "../../../../src/server/gateway/observe/gateway-log.ts";

function logged(options: Partial<GatewayLogOptions> = {}) {
  const lines: string[] = [];
  const log = createGatewayLog({
    level: () => "debug",
    stream: { write: (text) => lines.push(text) },
    now: () => new Date("2026-01-02T03:04:05.678Z"),
    ...options,
  });
  return { log, lines };
}

describe("the log", () => {
  test("the log writes one line of JSON for each event", () => {
    const { log, lines } = logged();
    log.info("request.end", {
      request: "r1",
      status: 200,
      ms: 12.3456789,
      session: "s1",
      savedDollars: 0.1 + 0.2,
    });
    expect(lines).toEqual([
      '{"time":"2026-01-02T03:04:05.678Z","level":"info","event":"request.end","request":"r1","session":"s1","status":200,"ms":12.345679,"savedDollars":0.3}\n',
    ]);
  });

  test("the log writes any text, number and flag as JSON.stringify does", () => {
    const fields = fc.record(
      {
        session: fc.string({ unit: "binary", maxLength: 40 }),
        model: fc.string({ maxLength: 8 }),
        ms: fc.double(),
        bytesOut: fc.maxSafeInteger(),
        isStreamed: fc.boolean(),
        error: fc.constantFrom('a "quoted" word', "a\nline", "\ud800"),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, (given) => {
        const { log, lines } = logged();
        log.info("any", given);
        const line = lines[0] ?? "";
        const { time, level, event, ...told } = JSON.parse(line);
        expect(line).toBe(`${JSON.stringify({ time, level, event, ...told })}\n`);
        const isTold = ([, value]: readonly [string, unknown]) =>
          typeof value !== "number" || Number.isFinite(value);
        expect(Object.keys(told).sort()).toEqual(
          Object.entries(given)
            .filter(isTold)
            .map(([name]) => name)
            .sort(),
        );
        expect(told.model).toBe(given.model);
        expect(told.error).toBe(given.error?.toWellFormed());
      }),
    );
  });

  test.each<[LogLevel, readonly string[]]>([
    ["silent", []],
    ["error", ["error"]],
    ["info", ["error", "info"]],
    ["debug", ["error", "info", "debug"]],
  ])("the log at level %s writes %j", (level, told) => {
    const { log, lines } = logged({ level: () => level });
    log.error("a");
    log.info("a");
    log.debug("a");
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(told);
  });

  test("the log follows a changed level", () => {
    let level: LogLevel = "silent";
    const { log, lines } = logged({ level: () => level });
    log.info("a");
    level = "info";
    log.info("b");
    expect(lines).toHaveLength(1);
  });

  test("the log writes message content only if asked to, and only known fields", () => {
    const fields = { content: "hello", authorization: "Bearer x", prompt: "hello" } as LogFields;
    const quiet = logged();
    quiet.log.debug("a", fields);
    expect(quiet.lines.join("")).not.toContain("hello");
    expect(quiet.lines.join("")).not.toContain("Bearer");
    const telling = logged({ content: () => true });
    telling.log.debug("a", fields);
    expect(JSON.parse(telling.lines.join(""))).toMatchObject({ content: "hello" });
    expect(telling.lines.join("")).not.toContain("prompt");
  });

  test("the log never writes a key, even if one got into a message", () => {
    const key = ["sk", "-ant-api03-", "a7Kx2Qm9Zt4Rb8Wc1Yf5".repeat(4)].join("");
    const { log, lines } = logged();
    log.error("upstream.failed", {
      message: `401 for x-api-key: ${key}`,
      model: key,
      error: "x".repeat(290) + key,
    });
    expect(lines.join("")).not.toContain(key.slice(0, 30));
    expect(lines.join("")).toContain("[redacted:anthropic-key]");
  });

  test("the log keeps every event on one line that cannot touch a terminal, whatever clients send", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("json", "pretty"), (text, form) => {
        const { log, lines } = logged({ form });
        log.info("a", { model: text, message: `\u001b[31m${text}\u009b\u202e` });
        expect(lines).toHaveLength(1);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test forbids control characters
        expect(lines[0]).toMatch(/^[^\u0000-\u001f]*\n$/);
        if (form === "json") expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: "a" });
        else expect(lines[0]).not.toMatch(/[\u007f-\u009f\u2028-\u202e]/);
      }),
    );
  });

  test("the log is readable on a terminal", () => {
    const { log, lines } = logged({ form: "pretty" });
    log.info("request.end", { model: "claude-x", status: 200, message: "two words" });
    expect(lines).toEqual(['03:04:05.678 info  request.end model=claude-x status=200 message="two words"\n']);
  });

  test("the log drops lines while its reader is slow, and says how many", () => {
    const stream = {
      waiting: 0,
      lines: [] as string[],
      write: (text: string) => stream.lines.push(text),
      get writableLength() {
        return stream.waiting;
      },
    };
    const { log } = logged({ stream });
    stream.waiting = 2_000_000;
    for (let count = 0; count < 1_000; count++) log.info("a");
    stream.waiting = 0;
    log.info("b");
    expect(stream.lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: "log.left-out", count: 1_000 },
      { event: "b" },
    ]);
  });
});
