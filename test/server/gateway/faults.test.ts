import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { WireName } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { ask, logOf, quiet, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import {
  beginStream,
  behave,
  eventsOf,
  formatEvent,
  says,
  startUpstream,
  wireApi,
} from "../../support/upstream.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const REPLY = {
  text: "I look into it.",
  toolCalls: [{ id: "call_1", name: "read_file", input: { path: "a.ts" } }],
};

/** Assistant messages in the log of the only conversation. */
async function saidByModel(gateway: TestGateway) {
  const [main] = await threadsOf(gateway, "main");
  const log = await logOf(await gateway.kernel.session(main?.id));
  return log.map(({ message }) => message).filter(({ role }) => role === "assistant");
}

/** The events of a reply, as the given API streams them. */
function streamed(agent: TestAgent, api: OlderWireName): readonly string[] {
  const url = {
    anthropic: "/messages",
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
  }[api];
  return wireApi(url).events(REPLY, { path: url, body: agent.body() }).map(formatEvent);
}

/** The index of the event that ends the content. */
function endOf(events: readonly string[]): number {
  const finished = events.findIndex((event) =>
    /"finish_reason":"|"stop_reason":"|"response.completed"/.test(event),
  );
  return finished < 0 ? events.length : finished;
}

describe.each(APIS)("a failing upstream over %s", (api) => {
  test.each([
    ["rate-limit", 429],
    ["server-error", 500],
    ["overloaded", 529],
  ] as const)(
    "an upstream error of kind %s is passed on unchanged, and each request is sent once",
    async (kind, status) => {
      const upstream = await startUpstream((heard, response) =>
        behave(heard, response, {
          type: "error",
          kind,
          status,
          headers: { "retry-after": "7", "X-Left": "0" },
        }),
      );
      const gateway = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(gateway, api);
      agent.elements = [{ role: "user", content: "Hello?" }];
      const words = JSON.stringify(wireApi(upstream.heard[0]?.url ?? pathOf(api)).error(kind).body);
      for (let time = 0; time < 5; time++) {
        const answer = await agent.send();
        expect([answer.status, answer.header("retry-after"), answer.text]).toEqual([status, "7", words]);
        expect(answer.rawHeaders).toContain("X-Left");
      }
      expect(upstream.heard).toHaveLength(5);
      expect(await saidByModel(gateway)).toEqual([]);
    },
  );

  test("an upstream stream cut after any event is cut for the client too, and no half call is stored as a call", async () => {
    let after = 0;
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "cut", reply: REPLY, afterEvents: after }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    const events = streamed(agent, api);
    for (after = 1; after < endOf(events); after++) {
      const answer = await agent.send();
      expect([after, answer.isWhole]).toEqual([after, false]);
      expect(events.join("").startsWith(answer.text)).toBe(true);
    }
    const halves = await saidByModel(gateway);
    expect(halves.length).toBeGreaterThan(0);
    for (const { parts, interrupted } of halves) {
      expect(interrupted).toBe(true);
      for (const part of parts) if (part.type === "tool-call") expect(part.input).toEqual({ path: "a.ts" });
    }
    upstream.answer(says(() => REPLY));
    await agent.next();
    const said = await saidByModel(gateway);
    expect(said.filter(({ interrupted }) => !interrupted)).toHaveLength(1);
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
  });

  test("an upstream stream that ends early in an orderly way is not stored as whole", async () => {
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "cut", reply: REPLY, afterEvents: 4, isOrderly: true }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    await agent.send();
    for (const { interrupted } of await saidByModel(gateway)) expect(interrupted).toBe(true);
  });

  test("an error within an upstream stream reaches the client, and nothing is stored as whole", async () => {
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "error-midway", reply: REPLY, afterEvents: 4, kind: "overloaded" }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    const answer = await agent.send();
    const error = formatEvent(wireApi(pathOf(api)).errorEvent("overloaded"));
    expect(answer.text.endsWith(error)).toBe(true);
    for (const { interrupted } of await saidByModel(gateway)) expect(interrupted).toBe(true);
  });

  test("an upstream that falls silent in a stream is given up and disconnected", async () => {
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "stall-midway", reply: REPLY, afterEvents: 3 }),
    );
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { idleMs: 300 } } });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    const answer = await agent.send();
    expect(answer.isWhole).toBe(false);
    expect(await upstream.heard[0]?.closed).toBe(false);
    for (const { interrupted } of await saidByModel(gateway)) expect(interrupted).toBe(true);
  });

  test("an upstream that never answers is reported as a timeout in the form of the API", async () => {
    const upstream = await startUpstream(() => {});
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { firstByteMs: 200 } } });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Anybody?" }];
    const answer = await agent.send();
    expect(answer.status).toBe(504);
    expect(JSON.parse(answer.text).error.message).toContain("did not begin to answer");
    expect(await upstream.heard[0]?.closed).toBe(false);
  });

  test("an unreachable upstream is reported with its address", async () => {
    const upstream = await startUpstream();
    await upstream.close();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Anybody?" }];
    const answer = await agent.send();
    expect(answer.status).toBe(502);
    const { message } = JSON.parse(answer.text).error;
    expect(message).toContain(new URL(upstream.url).host);
    const again = await agent.send();
    expect(again.status).toBe(502);
  });

  test("a malformed upstream answer is passed on or reported, and the next request works", async () => {
    const upstream = await startUpstream((heard, response) => behave(heard, response, { type: "rubbish" }));
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    expect((await agent.send()).text).toContain("Bad gateway");
    upstream.answer(
      (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
    );
    expect((await agent.send()).text).toBe("{");
    upstream.answer((_, response) => {
      response.socket?.end("HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\n");
    });
    expect((await agent.send()).status).toBe(502);
    upstream.answer((_, response) => void response.socket?.end("this is no HTTP at all\r\n\r\n"));
    expect((await agent.send()).status).toBe(502);
    upstream.answer(says(() => REPLY));
    await agent.next();
    expect((await saidByModel(gateway)).filter(({ interrupted }) => !interrupted)).toHaveLength(1);
  });

  test("the upstream is disconnected within a second when the client leaves, after any event", async () => {
    let sent = 0;
    const upstream = await startUpstream((heard, response) => {
      beginStream(response).write(eventsOf(heard, REPLY).slice(0, sent).join("") || ": wait\n\n");
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements = [{ role: "user", content: "Look into it." }];
    const events = streamed(agent, api);
    for (sent = 0; sent < endOf(events); sent++) {
      const leaving = new AbortController();
      await agent.send({ signal: leaving.signal, onBytes: () => leaving.abort() }).catch(() => undefined);
      const heard = await upstream.received(sent + 1);
      const late = sleep(1_000).then(() => "late");
      expect([sent, await Promise.race([heard.closed, late])]).toEqual([sent, false]);
    }
    await quiet(gateway);
    for (const { interrupted } of await saidByModel(gateway)) expect(interrupted).toBe(true);
    expect(upstream.connections()).toBe(0);
  });
});

describe("a client", () => {
  test("a client that leaves before the answer begins ends the upstream request", async () => {
    const upstream = await startUpstream(() => {});
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Never mind." }];
    const leaving = new AbortController();
    const gone = agent.send({ signal: leaving.signal }).catch(() => "gone");
    const heard = await upstream.received(1);
    leaving.abort();
    expect(await gone).toBe("gone");
    expect(await Promise.race([heard.closed, sleep(1_000).then(() => "late")])).toBe(false);
    await quiet(gateway);
  });

  test("a client that reads nothing slows its upstream down", async () => {
    let written = 0;
    const event = `data: {"type":"ping","filler":"${"x".repeat(65_000)}"}\n\n`;
    const upstream = await startUpstream(async (_, response) => {
      beginStream(response);
      while (!response.destroyed && written < 400 * event.length) {
        const isReady = response.write(event);
        written += event.length;
        if (!isReady) await once(response, "drain").catch(() => undefined);
      }
      response.end();
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const leaving = new AbortController();
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Tell me everything." }];
    const reading = agent.send({ signal: leaving.signal, onBytes: (_, answer) => answer.pause() });
    reading.catch(() => undefined);
    let before = -1;
    while (before !== written || written === 0) {
      before = written;
      await sleep(300);
    }
    expect(written).toBeLessThan(300 * event.length);
    leaving.abort();
    await upstream.heard[0]?.closed;
  });

  test("a client that sends an invalid body gets an error in the form of the API", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url });
    const bodies = [
      "",
      "{",
      "[]",
      "null",
      '{"model":"m","messages":[',
      '{"messages":[]}',
      '{"model":"m","messages":[1]}',
      '{"model":"m","model":"n","messages":[]}',
      "\xff\xfe",
    ];
    for (const body of bodies) {
      const answer = await ask(gateway, { path: "/v1/messages", body });
      expect([body, answer.status]).toEqual([body, 400]);
      expect(JSON.parse(answer.text).error.type).toBe("invalid_request_error");
    }
    expect(upstream.heard).toEqual([]);
    const text = await ask(gateway, {
      path: "/v1/messages",
      body: "hi",
      headers: { "content-type": "text/plain" },
    });
    expect(text.status).toBe(415);
  });
});

describe("a gateway that closes", () => {
  test("a closing gateway finishes the streams under way and accepts no new ones", async () => {
    const upstream = await startUpstream(async (heard, response) => {
      beginStream(response);
      for (const event of eventsOf(heard, REPLY)) {
        response.write(event);
        await sleep(40);
      }
      response.end();
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Take your time." }];
    const begun = Promise.withResolvers<void>();
    const answering = agent.send({ onBytes: () => begun.resolve() });
    await begun.promise;
    const closing = gateway.gateway.close();
    await expect(new TestAgent(gateway).say("Me too.")).rejects.toThrow();
    const answer = await answering;
    expect(answer.isWhole).toBe(true);
    expect(agent.read(answer.text).calls).toHaveLength(1);
    await closing;
    const [main] = await gateway.kernel.sessions({ limit: 5 });
    const log = await logOf(await gateway.kernel.session(main?.id));
    expect(log.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  });

  test("a closing gateway cuts streams that take longer than its drain limit", async () => {
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "stall-midway", reply: REPLY, afterEvents: 3 }),
    );
    const gateway = await startGateway({ upstream: upstream.url, config: { limits: { drainMs: 150 } } });
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Take your time." }];
    const begun = Promise.withResolvers<void>();
    const answering = agent.send({ onBytes: () => begun.resolve() });
    await begun.promise;
    await gateway.close();
    expect((await answering).isWhole).toBe(false);
    expect(await upstream.heard[0]?.closed).toBe(false);
  });
});

function pathOf(api: OlderWireName): string {
  return {
    anthropic: "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
  }[api];
}
