import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { eventually } from "../../support/eventually.ts";
import { ask, quiet, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, says, startUpstream } from "../../support/upstream.ts";
import { openSocket, sendRaw, statusesOf } from "./door/door-server.ts";

const BODY = JSON.stringify({
  model: "claude-sonnet-4-5",
  max_tokens: 9,
  messages: [{ role: "user", content: "Let me in." }],
});
/** Placeholder for the gateway's address. */
const HERE = "gateway.here";
const HEAD =
  "POST /v1/messages HTTP/1.1\r\nHost: gateway.here\r\nContent-Type: application/json\r\nX-Api-Key: k\r\n";
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const HIDDEN = "POST /v1/messages HTTP/1.1\r\nHost: gateway.here\r\nX-Hidden: 1\r\n\r\n";

/** Invalid requests, and requests whose end is ambiguous between two servers. */
const HOSTILE: Readonly<Record<string, string>> = {
  "length and chunks": `${HEAD}${LENGTH}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}${HIDDEN}`,
  "two lengths": `${HEAD}${LENGTH}Content-Length: 3\r\n\r\n${BODY}`,
  "a list of lengths": `${HEAD}Content-Length: ${BODY.length}, ${BODY.length}\r\n\r\n${BODY}`,
  "a length with a sign": `${HEAD}Content-Length: +${BODY.length}\r\n\r\n${BODY}`,
  "a length in hexadecimal digits": `${HEAD}Content-Length: 0x${BODY.length.toString(16)}\r\n\r\n${BODY}`,
  "an unknown transfer encoding": `${HEAD}Transfer-Encoding: xchunked\r\n\r\n${CHUNKED}`,
  "chunks inside of another encoding": `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKED}`,
  "a space before the colon": `${HEAD}Transfer-Encoding : chunked\r\n\r\n${CHUNKED}`,
  "a folded header": `${HEAD}X-One: a\r\n b\r\n${LENGTH}\r\n${BODY}`,
  "a chunk whose size is no number": `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n${BODY}\r\n0\r\n\r\n`,
  "two hosts": `${HEAD}Host: elsewhere.example\r\n${LENGTH}\r\n${BODY}`,
  "a host of somebody else": `${HEAD.replace(HERE, "evil.example")}${LENGTH}\r\n${BODY}`,
  "no host": `${HEAD.replace(`Host: ${HERE}\r\n`, "")}${LENGTH}\r\n${BODY}`,
  "a target with another host": `${HEAD.replace("/v1/messages", "http://evil.example/v1/messages")}${LENGTH}\r\n${BODY}`,
  "a path that climbs": `${HEAD.replace("/v1/messages", "/v1/../../messages")}${LENGTH}\r\n${BODY}`,
  "a path that climbs in disguise": `${HEAD.replace("/v1/messages", "/v1/%2e%2e/messages")}${LENGTH}\r\n${BODY}`,
  "a zero byte in a header": `${HEAD}X-Zero: a\0b\r\n${LENGTH}\r\n${BODY}`,
  "a page of somebody else": `${HEAD}Origin: https://evil.example\r\n${LENGTH}\r\n${BODY}`,
  "no words of HTTP": "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03 hello\r\n\r\n",
  "a method of its own": `${HEAD.replace("POST", "BREW")}${LENGTH}\r\n${BODY}`,
  "a tunnel": "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
  "an upgrade": `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n${LENGTH}\r\n${BODY}`,
  "a head without end": `${HEAD}X-Long: ${"x".repeat(100_000)}\r\n\r\n`,
};

describe("a gateway among hostile clients", () => {
  test.each(Object.entries(HOSTILE))("a request with %s does not reach the provider", async (_, bytes) => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url });
    const answer = await sendTo(gateway.port, bytes);
    const statuses = statusesOf(answer);
    expect(statuses.every((status) => status >= 400)).toBe(true);
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(upstream.heard).toEqual([]);
    expect((await ask(gateway, { path: "/v1/messages", body: BODY })).status).toBe(200);
  });

  proofTest("pipelined requests are answered in their order", async () => {
    const upstream = await startUpstream(says((_, index) => ({ text: `answer ${index}` })));
    const gateway = await startGateway({ upstream: upstream.url });
    const one = `${HEAD}${LENGTH}\r\n${BODY}`;
    const answer = await sendTo(gateway.port, one + one.replace("Let me in.", "And once.."), 2);
    expect(statusesOf(answer)).toEqual([200, 200]);
    expect(upstream.heard).toHaveLength(2);
  });

  proofTest(
    "the gateway works while 500 sockets send their headers byte by byte, and closes these sockets in time",
    async () => {
      const upstream = await startUpstream();
      const config = { limits: { headersMs: 1_500, maxConnections: 300 } };
      const gateway = await startGateway({ upstream: upstream.url, config });
      const slow = await Promise.all(Array.from({ length: 500 }, () => openSocket(gateway.port)));
      onTestFinished(() => {
        for (const socket of slow) socket.destroy();
      });
      const dripping = setInterval(() => drip(slow), 200);
      onTestFinished(() => clearInterval(dripping));
      const agents = Array.from({ length: 5 }, () => new TestAgent(gateway));
      for (const [at, agent] of agents.entries()) await agent.say(`I am real, number ${at}.`);
      await Promise.all(agents.map((agent) => agent.say("And still here.")));
      expect(upstream.heard).toHaveLength(10);
      await Promise.all(
        slow.map(
          (socket) =>
            new Promise((resolve) => (socket.destroyed ? resolve(0) : socket.once("close", resolve))),
        ),
      );
      expect(await threadsOf(gateway, "main")).toHaveLength(5);
    },
  );

  test("a body that never ends is refused with a 408", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { bodyMs: 300 } } });
    const answer = await sendTo(gateway.port, `${HEAD}Content-Length: 5000\r\n\r\n${BODY}`);
    expect(statusesOf(answer)).toEqual([408]);
    expect(answer).toContain("limits.bodyMs");
    expect(upstream.heard).toEqual([]);
  });

  proofTest("the gateway holds no more sockets or timers after the load than before", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { idleMs: 400 } } });
    const round = async (count: number) => {
      upstream.answer((heard, response, index) => {
        const reply = { text: "word ".repeat(200) };
        if (index % 5 === 1) behave(heard, response, { type: "cut", reply, afterEvents: 20 });
        else if (index % 5 === 2) behave(heard, response, { type: "error", kind: "overloaded" });
        else if (index % 5 === 3) behave(heard, response, { type: "stall-midway", reply, afterEvents: 9 });
        else behave(heard, response, { type: "reply", reply });
      });
      const asked = Array.from({ length: count }, async (_, at) => {
        const agent = new TestAgent(gateway);
        agent.elements = [{ role: "user", content: `Question ${at % 50}, ${"detail ".repeat(300)}` }];
        const leaving = new AbortController();
        const leaves = at % 5 === 4 ? { onBytes: () => leaving.abort() } : {};
        await agent.send({ signal: leaving.signal, ...leaves }).catch(() => undefined);
      });
      await Promise.all(asked);
      await quiet(gateway);
    };
    await round(60);
    await settle(gateway.gateway);
    const before = resources();
    for (let time = 0; time < 4; time++) await round(60);
    await settle(gateway.gateway);
    // The gateway keeps idle connections to the provider: never more than it has used at once.
    expect(upstream.connections()).toBeLessThanOrEqual(60);
    await expect.poll(() => resources().sockets - upstream.connections()).toBeLessThanOrEqual(2);
    await expect.poll(() => resources().timers).toBeLessThanOrEqual(before.timers + 2);
    await gateway.close();
    await expect.poll(() => upstream.connections()).toBe(0);
  });
});

function sendTo(port: number, bytes: string, answers?: number): Promise<string> {
  return sendRaw(port, bytes.replaceAll(HERE, `127.0.0.1:${port}`), answers);
}

/** Sends one more byte of a header that never ends. */
function drip(sockets: readonly Socket[]): void {
  for (const [at, socket] of sockets.entries())
    if (!socket.destroyed) socket.write(HEAD[Math.floor(at / 7) % HEAD.length] === "\r" ? "x" : "P");
}

/** Waits until no request is in flight. */
function settle(gateway: { status(): { readonly inFlight: number } }): Promise<void> {
  return eventually("no request is in flight", () => gateway.status().inFlight === 0);
}

function resources() {
  const all = process.getActiveResourcesInfo();
  const count = (type: string) => all.filter((one) => one === type).length;
  return { sockets: count("TCPSocketWrap"), timers: count("Timeout") };
}
