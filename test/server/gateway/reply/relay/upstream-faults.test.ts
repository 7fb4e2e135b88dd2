import { once } from "node:events";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { proofTest } from "../../../../support/proof.ts";
import { allClosed, ask, askBare, event, open, startWorld } from "./world.ts";

const sse = { "content-type": "text/event-stream" };
const events = Array.from({ length: 6 }, (_, at) => event(`number ${at}`));
const keep = { transform: ({ raw }: { readonly raw: Buffer }) => raw };

describe("a failing upstream", () => {
  test.each([
    ["as it comes", {}],
    ["event by event", keep],
  ])("a cut after any event reaches the client, which has all bytes before it: %s", async (_, mode) => {
    for (let count = 0; count <= events.length; count += 1) {
      const world = await startWorld((_, response) => {
        response.writeHead(200, sse).flushHeaders();
        response.write(events.slice(0, count).join(""));
        setTimeout(() => response.destroy(), 20);
      }, mode);
      const { text, isWhole } = await ask(world.url);
      expect([text, isWhole]).toEqual([events.slice(0, count).join(""), false]);
      expect(await world.outcome).toMatchObject({ ending: "upstream-cut", failure: { reason: "reset" } });
    }
  });

  test.each([
    ["plain", (text: string) => Buffer.from(text), {}],
    ["packed", (text: string) => zlib.gzipSync(text), { "content-encoding": "gzip" }],
  ])(
    "the client has all bytes that arrived before a cut that is faster than the relay: %s",
    async (_, pack, head) => {
      const world = await startWorld(
        (_request, response) => {
          response.writeHead(200, { ...sse, ...head });
          response.write(pack(events.join("")), () => response.destroy());
        },
        keep,
        (body) => new Promise((resolve) => body.once("close", () => resolve())),
      );
      expect(await ask(world.url)).toMatchObject({ text: events.join(""), isWhole: false });
      expect(await world.outcome).toMatchObject({ ending: "upstream-cut", failure: { reason: "reset" } });
    },
  );

  test("half an event is held back at a cut, and passed on at an orderly end", async () => {
    const half = events[1]?.slice(0, 12) ?? "";
    const cut = await startWorld((_, response) => {
      response.writeHead(200, sse).write(events[0] + half, () => setTimeout(() => response.destroy(), 20));
    }, keep);
    expect(await ask(cut.url)).toMatchObject({ text: events[0], isWhole: false });
    const orderly = await startWorld(
      (_, response) => response.writeHead(200, sse).end(events[0] + half),
      keep,
    );
    expect(await ask(orderly.url)).toMatchObject({ text: `${events[0]}${half}`, isWhole: true });
  });

  test("a body that is shorter than its declared length counts as cut", async () => {
    const world = await startWorld((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("short", () => response.destroy());
    });
    expect(await ask(world.url)).toMatchObject({ text: "short", isWhole: false });
    expect(await world.outcome).toMatchObject({ ending: "upstream-cut", bytes: 5 });
  });

  test("the client gets an error event before its connection breaks", async () => {
    const world = await startWorld(
      (_, response) => {
        response.writeHead(200, sse).write(events[0], () => setTimeout(() => response.destroy(), 20));
      },
      { ...keep, finalBytes: ({ reason }) => event(`error: ${reason}`) },
    );
    expect(await ask(world.url)).toMatchObject({ text: events[0] + event("error: reset"), isWhole: false });
  });

  test("a silent stream ends, and the upstream is disconnected", async () => {
    const world = await startWorld((_, response) => void response.writeHead(200, sse).write(events[0]), {
      idleMs: 300,
      finalBytes: ({ reason }) => event(`error: ${reason}`),
    });
    expect(await ask(world.url)).toMatchObject({ text: events[0] + event("error: idle"), isWhole: false });
    expect(await world.outcome).toMatchObject({ ending: "upstream-idle", failure: { reason: "idle" } });
    await allClosed(world.upstream.connections);
  });

  proofTest("comments and hidden events do not count as silence", async () => {
    const world = await startWorld(
      (_, response) => {
        response.writeHead(200, sse);
        let at = 0;
        const timer = setInterval(() => {
          at += 1;
          if (at < 12) response.write(at % 2 ? ": ping\n\n" : event("hidden"));
          else {
            clearInterval(timer);
            response.end(event("end"));
          }
        }, 100);
      },
      { idleMs: 1_000, transform: ({ raw, data }) => (data === "hidden" ? undefined : raw) },
    );
    expect(await ask(world.url)).toMatchObject({
      text: `${": ping\n\n".repeat(6)}${event("end")}`,
      isWhole: true,
    });
  });

  test("a cut within a compressed stream still delivers the events before it", async () => {
    const world = await startWorld((_, response) => {
      response.writeHead(200, { ...sse, "content-encoding": "gzip" });
      const coder = zlib.createGzip();
      coder.pipe(response);
      coder.write(events.slice(0, 3).join(""));
      coder.flush(() => setTimeout(() => response.destroy(), 30));
    }, keep);
    expect(await ask(world.url)).toMatchObject({ text: events.slice(0, 3).join(""), isWhole: false });
    expect((await world.outcome).ending).toBe("upstream-cut");
  });

  test("a stream whose encoding differs from the declared encoding counts as cut", async () => {
    const world = await startWorld((_, response) => {
      response.writeHead(200, { ...sse, "content-encoding": "gzip" }).end(events[0]);
    }, keep);
    expect(await ask(world.url)).toMatchObject({ text: "", isWhole: false });
    expect(await world.outcome).toMatchObject({ ending: "upstream-cut", failure: { reason: "malformed" } });
  });

  test("an event that never ends counts as a cut", async () => {
    const world = await startWorld((_, response) => {
      response.writeHead(200, sse).write(events[0]);
      const piece = Buffer.alloc(1_024 * 1_024, 120);
      const more = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    }, keep);
    expect(await ask(world.url)).toMatchObject({ text: events[0], isWhole: false });
    expect(await world.outcome).toMatchObject({ ending: "upstream-cut", failure: { reason: "too-large" } });
  });
});

describe("the relay's own signal", () => {
  test("the relay's own signal ends both connections", async () => {
    const controller = new AbortController();
    const world = await startWorld((_, response) => void response.writeHead(200, sse).write(events[0]), {
      signal: controller.signal,
    });
    const head = await open(world.url);
    const [seen] = await once(head, "data");
    expect(String(seen)).toBe(events[0]);
    controller.abort();
    expect((await once(head, "error"))[0]).toMatchObject({ code: "ECONNRESET" });
    expect((await world.outcome).ending).toBe("stopped");
    await allClosed(world.upstream.connections);
  });
});

test("many relays over one connection leave no listener behind", async () => {
  const world = await startWorld((_, response) => response.end("x"));
  const socket = await askBare(world.port, "");
  let seen = "";
  socket.on("data", (chunk) => {
    seen += String(chunk);
  });
  for (let at = 1; at <= 50; at += 1) {
    socket.write("GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n");
    while (seen.split("HTTP/1.1 200").length <= at) await once(socket, "data");
    await world.relayed[at - 1];
  }
  const [served] = world.connections;
  const counts = served?.eventNames().map((name) => served.listenerCount(name)) ?? [];
  expect(Math.max(...counts)).toBeLessThan(4);
  expect(world.upstream.connections).toHaveLength(1);
});
