import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { relayResponse } from "../../../../../src/server/gateway/reply/relay/relay-response.ts";
import { proofTest } from "../../../../support/proof.ts";
import { ask, askBare, event, open, startWorld } from "./world.ts";

const sse = { "content-type": "text/event-stream" };

describe("relay", () => {
  test("the relay passes head and body on unchanged", async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const world = await startWorld((_, response) => {
      response.writeHead(203, "Somehow", [
        "X-One",
        "1",
        "x-one",
        "2",
        "Date",
        "never",
        "Content-Length",
        `${bytes.length}`,
      ]);
      response.end(bytes);
    });
    const { head, text, isWhole } = await ask(world.url);
    expect([head.statusCode, head.statusMessage, isWhole]).toEqual([203, "Somehow", true]);
    expect(head.rawHeaders.slice(0, 8)).toEqual([
      "X-One",
      "1",
      "x-one",
      "2",
      "Date",
      "never",
      "Content-Length",
      "300000",
    ]);
    expect(text).toBe(bytes.toString());
    expect(await world.outcome).toMatchObject({ ending: "complete", bytes: 300_000, failure: undefined });
    expect((await world.outcome).firstByteMs).toBeGreaterThan(0);
  });

  test("the relay passes the head on before there is a body, and each event as it comes", async () => {
    const steps: (() => void)[] = [];
    const world = await startWorld(
      (_, response) => {
        response.writeHead(200, sse).flushHeaders();
        steps.push(
          () => response.write("data: a\n\ndata: b"),
          () => response.write("\n\n"),
          () => response.end(),
        );
      },
      { transform: ({ raw }) => raw },
    );
    const head = await open(world.url);
    const next = async () => String((await once(head, "data"))[0]);
    for (const expected of ["data: a\n\n", "data: b\n\n"]) {
      const coming = next();
      steps.shift()?.();
      expect(await coming).toBe(expected);
    }
    steps.shift()?.();
    expect(await world.outcome).toMatchObject({ ending: "complete" });
  });

  test("the relay changes and leaves out events while comments pass", async () => {
    const world = await startWorld(
      (_, response) => {
        response.writeHead(200, { ...sse, "content-length": "74" });
        response.end(
          ": hello\n\nevent: a\ndata: 1\n\ndata: hide\n\n: ping\n\ndata: 2\r\n\r\ndata: [DONE]\n\nx",
          // Ends the unfinished answer now; an idle connection is kept for seconds.
          () => response.socket?.end(),
        );
      },
      {
        transform: ({ raw, data }) => (data === "hide" ? undefined : data === "2" ? "data: two é\n\n" : raw),
      },
    );
    const { text, isWhole, head } = await ask(world.url);
    expect(text).toBe(": hello\n\nevent: a\ndata: 1\n\n: ping\n\ndata: two é\n\ndata: [DONE]\n\n");
    expect(isWhole).toBe(false);
    expect(head.headers["content-length"]).toBeUndefined();
  });

  test("the relay sends the remaining event when a stream ends without a blank line", async () => {
    const world = await startWorld(
      (_, response) => response.writeHead(200, sse).end("data: a\n\ndata: [DONE]\n"),
      {
        transform: ({ data }) => `data: <${data}>\n\n`,
      },
    );
    expect((await ask(world.url)).text).toBe("data: <a>\n\ndata: <[DONE]>\n\n");
  });

  test("the relay does not change an answer that is not an event stream", async () => {
    const world = await startWorld(
      (_, response) =>
        response.writeHead(400, { "content-type": "application/json" }).end('{"data: x":\n\n1}'),
      { transform: () => undefined },
    );
    const { head, text } = await ask(world.url);
    expect([head.statusCode, text]).toEqual([400, '{"data: x":\n\n1}']);
  });

  test("a tap that fails does not disturb the answer", async () => {
    const world = await startWorld((_, response) => response.end("whole"), {
      tap: () => {
        throw new Error("broken");
      },
    });
    expect(await ask(world.url)).toMatchObject({ text: "whole", isWhole: true });
    expect(await world.outcome).toMatchObject({ ending: "complete", tapFailure: new Error("broken") });
  });

  test("a transform that fails ends both connections and reports the error", async () => {
    const world = await startWorld((_, response) => void response.writeHead(200, sse).write(event("a")), {
      transform: () => {
        throw new Error("broken");
      },
    });
    await ask(world.url).catch(() => {});
    await expect(world.outcome).rejects.toThrow("broken");
  });

  test("an answer without a body is relayed without a body", async () => {
    const world = await startWorld((request, response) => {
      if (request.method === "HEAD") response.writeHead(200, { "content-length": "77" }).end();
      else response.writeHead(request.method === "PUT" ? 304 : 204).end();
    });
    const head = await ask(world.url, { method: "HEAD" });
    expect([head.head.headers["content-length"], head.text]).toEqual(["77", ""]);
    expect((await ask(world.url, { method: "POST" })).head.statusCode).toBe(204);
    expect((await ask(world.url, { method: "PUT" })).head.statusCode).toBe(304);
    expect((await Promise.all(world.relayed)).map(({ ending }) => ending)).toEqual([
      "complete",
      "complete",
      "complete",
    ]);
  });

  test("the relay sends trailers after the body", async () => {
    const world = await startWorld((_, response) => {
      response.writeHead(200, { trailer: "x-sum" }).write("body");
      response.addTrailers({ "x-sum": "4" });
      response.end();
    });
    expect((await ask(world.url)).head.trailers).toEqual({ "x-sum": "4" });
  });

  test("a client that waits for permission to send its body gets its answer", async () => {
    const world = await startWorld((request, response) => void request.pipe(response));
    const socket = await askBare(
      world.port,
      "POST /v1/messages HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n",
    );
    expect(String((await once(socket, "data"))[0])).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("body");
    const answer: string[] = [];
    for await (const chunk of socket) answer.push(String(chunk));
    expect(answer.join("")).toMatch(/^HTTP\/1\.1 200 OK.*\r\n\r\n(4\r\n)?body/s);
  });

  test("a client of HTTP/1.0 gets a body that ends with its connection", async () => {
    const world = await startWorld((_, response) => response.write("a", () => response.end("b")));
    const socket = await askBare(world.port, "GET /v1/messages HTTP/1.0\r\n\r\n");
    const answer: string[] = [];
    for await (const chunk of socket) answer.push(String(chunk));
    expect(answer.join("").split("\r\n\r\n")[1]).toBe("ab");
  });

  test("one response can combine two answers", async () => {
    const second = await startWorld((_, response) => response.writeHead(200, sse).end(event("second")));
    const world = await startWorld(
      (_, response) => response.writeHead(200, sse).end(event("first")),
      (_, response) => ({
        transform: ({ raw }) => raw,
        keepsOpen: () => {
          void open(second.url).then((body) => {
            const { statusCode: status = 0, statusMessage = "", rawHeaders } = body;
            return relayResponse({
              answer: { status, statusMessage, rawHeaders, body, detach: () => undefined },
              response,
              idleMs: 5_000,
            });
          });
          return true;
        },
      }),
    );
    expect(await ask(world.url)).toMatchObject({ text: event("first") + event("second"), isWhole: true });
  });

  proofTest("200 simultaneous relays stay separate", async () => {
    const world = await startWorld(
      (request, response) => {
        const from = request.headers["x-from"];
        response.writeHead(200, sse);
        let at = 0;
        const timer = setInterval(() => {
          if (at === 5) {
            clearInterval(timer);
            response.end();
          } else response.write(event(`${from} ${at++} ${"x".repeat(2_000)}`));
        }, 2);
      },
      (incoming) => ({ transform: ({ data }) => event(`${incoming.headers["x-from"]}:${data}`) }),
    );
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => ask(world.url, { from: `client${at}` })),
    );
    for (const [at, { text, isWhole }] of answers.entries()) {
      const expected = [0, 1, 2, 3, 4].map((n) => event(`client${at}:client${at} ${n} ${"x".repeat(2_000)}`));
      expect([text, isWhole]).toEqual([expected.join(""), true]);
    }
    expect(new Set((await Promise.all(world.relayed)).map(({ ending }) => ending))).toEqual(
      new Set(["complete"]),
    );
  });
});
