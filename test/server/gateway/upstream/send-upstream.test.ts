import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { readUpstreamBody } from "../../../../src/server/gateway/upstream/send-upstream.ts";
import { toUpstreamFault } from "../../../../src/server/gateway/upstream/upstream-error.ts";
import { turns } from "../../../support/eventually.ts";
import { limits, reasonOf, sender } from "./sender.ts";
import { serve, serveTcp } from "./server.ts";

describe("sendUpstream", () => {
  test("sendUpstream sends bytes, path and headers unchanged, and returns the raw head", async () => {
    const { url } = await serve(async (request, response) => {
      const body = await buffer(request);
      response.writeHead(299, "Odd", ["X-Same", "1", "x-same", "2"]);
      response.end(
        JSON.stringify({ url: request.url, raw: request.rawHeaders, body: body.toString("latin1") }),
      );
    });
    const rawHeaders = ["Host", "h", "x-B", "2", "X-a", "1", "x-B", "3", "Content-Length", "4"];
    const body = [Buffer.from("a\xff", "latin1"), Buffer.from("bc")];
    const answer = await sender(url)({ rawHeaders, body });
    expect([answer.status, answer.statusMessage]).toEqual([299, "Odd"]);
    expect(answer.rawHeaders.slice(0, 4)).toEqual(["X-Same", "1", "x-same", "2"]);
    const { decoded } = await readUpstreamBody(answer.body, 10_000);
    const seen = JSON.parse(String(decoded)) as { url: string; raw: string[]; body: string };
    expect(seen).toMatchObject({ url: "/v1/messages?beta=true", body: "a\xffbc" });
    expect(seen.raw).toEqual(rawHeaders);
  });

  test("sendUpstream passes redirects on instead of following them", async () => {
    let count = 0;
    const { url } = await serve((_, response) => {
      count += 1;
      response.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" }).end();
    });
    const answer = await sender(url)();
    answer.body.resume();
    expect([answer.status, count]).toEqual([307, 1]);
  });

  test("sendUpstream keeps its connection for the next request", async () => {
    const { url, connections } = await serve((_, response) => response.end("x"));
    const send = sender(url);
    for (let at = 0; at < 5; at += 1) await readUpstreamBody((await send()).body, 10);
    expect(connections).toHaveLength(1);
  });

  test("sendUpstream opens no more connections than allowed", async () => {
    const { url, connections } = await serve((_, response) => setTimeout(() => response.end("x"), 20));
    const send = sender(url, { maxSockets: 3 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () =>
        (await readUpstreamBody((await send()).body, 10)).raw.toString(),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 12 }, () => "x"));
    expect(connections.length).toBeLessThanOrEqual(3);
  });

  test("a kept connection that breaks before it answers is replaced once", async () => {
    const bodies: string[] = [];
    const { url, connections } = await serveTcp((socket) => {
      let requests = 0;
      socket.on("data", (data) => {
        requests += 1;
        if (requests === 2) return void socket.resetAndDestroy();
        bodies.push(data.toString().split("\r\n\r\n")[1] ?? "");
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
      });
    });
    const send = sender(url);
    await readUpstreamBody((await send({ text: "first" })).body, 10);
    await readUpstreamBody((await send({ text: "second" })).body, 10);
    expect(bodies).toEqual(["first", "second"]);
    expect(connections).toHaveLength(2);
  });

  test("a new connection that breaks before it answers is not replaced", async () => {
    const { url, connections } = await serveTcp((socket) =>
      socket.once("data", () => socket.resetAndDestroy()),
    );
    expect(await reasonOf(sender(url)({ text: "x" }))).toBe("reset");
    expect(connections).toHaveLength(1);
  });

  test("a request is not repeated once a byte of the answer has come", async () => {
    let requests = 0;
    const { url } = await serveTcp((socket) => {
      socket.on("data", () => {
        requests += 1;
        if (requests === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        else socket.write("HTTP/1.1 2", () => setTimeout(() => socket.resetAndDestroy(), 50));
      });
    });
    const send = sender(url);
    await readUpstreamBody((await send()).body, 10);
    expect(await reasonOf(send({ text: "x" }))).toBe("reset");
    expect(requests).toBe(2);
  });

  test("an unreachable upstream is reported as a failure to connect", async () => {
    const { url, port } = await serveTcp(() => {});
    const sent = sender(url.replace(String(port), "1"))();
    await expect(sent).rejects.toMatchObject({ reason: "connect", code: "PROVIDER_FAILED" });
    const fault = toUpstreamFault(await sent.catch((error) => error), { name: "here" });
    expect(fault).toMatchObject({ status: 502, kind: "unavailable" });
    expect(fault.message).toMatch(/^here: The upstream cannot be reached: 127\.0\.0\.1:1 /);
  });

  test("an upstream that does not answer is given up in time", async () => {
    const { url, connections } = await serveTcp((socket) => socket.resume());
    const sent = sender(url)({ text: "x", limits: { ...limits, firstByteMs: 50 } });
    await expect(sent).rejects.toMatchObject({ reason: "timeout", code: "PROVIDER_TIMEOUT" });
    if (connections[0] && !connections[0].closed) await once(connections[0], "close");
  });

  test("an answer may take longer than idle connections are kept", async () => {
    const { url } = await serve((_, response) => setTimeout(() => response.end("x"), 300));
    const { body } = await sender(url, { keepAliveMs: 50 })();
    expect((await readUpstreamBody(body, 10)).raw.toString()).toBe("x");
  });

  test("an answer that is not HTTP is reported as malformed", async () => {
    const { url } = await serveTcp((socket) =>
      socket.once("data", () => socket.write("SSH-2.0-OpenSSH\r\n\r\n")),
    );
    expect(await reasonOf(sender(url)())).toBe("malformed");
  });

  test("invalid headers are refused without repeating their value", async () => {
    const { url } = await serveTcp(() => {});
    const error = await sender(url)({ rawHeaders: ["x-api-key", "secret\nvalue"] }).catch(
      (one: Error) => one,
    );
    expect(error).toMatchObject({ reason: "malformed" });
    expect(String(error)).not.toContain("secret");
  });

  test("informational responses do not count as the answer", async () => {
    const { url } = await serveTcp((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
      });
    });
    const answer = await sender(url)();
    expect(answer.status).toBe(200);
    expect((await readUpstreamBody(answer.body, 10)).raw.toString()).toBe("x");
  });

  describe("the signal", () => {
    test("an aborted signal sends nothing", async () => {
      const { url, connections } = await serveTcp(() => {});
      expect(await reasonOf(sender(url)({ signal: AbortSignal.abort() }))).toBe("aborted");
      expect(connections).toHaveLength(0);
    });

    test("an abort ends a request that waits", async () => {
      const { url, connections } = await serveTcp((socket) => socket.once("data", () => controller.abort()));
      const controller = new AbortController();
      expect(await reasonOf(sender(url)({ signal: controller.signal, text: "x" }))).toBe("aborted");
      if (connections[0] && !connections[0].closed) await once(connections[0], "close");
    });

    test("an abort ends an answer that has begun", async () => {
      const controller = new AbortController();
      const closed = Promise.withResolvers<void>();
      const { url } = await serve((_, response) => {
        response.once("close", closed.resolve);
        response.write("begun");
      });
      const { body } = await sender(url)({ signal: controller.signal });
      const read = readUpstreamBody(body, 10_000);
      await turns();
      controller.abort();
      await expect(read).rejects.toMatchObject({ reason: "aborted" });
      await closed.promise;
    });

    test("the signal loses its listener when the answer has been read", async () => {
      const { url } = await serve((_, response) => response.end("x"));
      const { signal } = new AbortController();
      let listening = 0;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = ((...given: Parameters<typeof add>) => {
        listening += 1;
        add(...given);
      }) as typeof add;
      signal.removeEventListener = ((...given: Parameters<typeof remove>) => {
        listening -= 1;
        remove(...given);
      }) as typeof remove;
      const { body } = await sender(url)({ signal });
      await readUpstreamBody(body, 10, { signal });
      await new Promise(setImmediate);
      expect(listening).toBe(0);
    });
  });
});
