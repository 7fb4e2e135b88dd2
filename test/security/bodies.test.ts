import { createServer, request as openRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { ByteCollector } from "../../src/model/base/byte-collector.ts";
import { ByteShare, HeldBytes } from "../../src/server/gateway/door/read-body.ts";
import { startProgram } from "../cli/support/program.ts";
import { testFolder } from "../support/folder.ts";
import { ask, startGateway } from "../support/gateway.ts";
import { FINE } from "../support/plain-reply.ts";
import { proofRounds, proofTest, sizedTest } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";

const MB = 1e6;
const REPLY = FINE.replace("fine", "x".repeat(2_000_000));

/** A provider that replies in chunks of one byte once it has read the request. */
async function crumbling(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", async () => {
      const isCrumbs = request.headers["x-crumbs"] === "1";
      response.writeHead(200, { "content-type": "application/json" });
      if (!isCrumbs) return void response.end(REPLY.replace(/x+/, "fine"));
      response.flushHeaders();
      const { socket } = request;
      for (let at = 0; at < REPLY.length; at += 4_096) {
        const crumbs = [...REPLY.slice(at, at + 4_096)].map((byte) => `1\r\n${byte}\r\n`);
        if (!socket.write(crumbs.join(""))) await new Promise((resolve) => socket.once("drain", resolve));
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A gateway in its own process. */
async function serve(args: readonly string[] = []) {
  const upstream = await crumbling();
  const options = ["--port", "0", "--store", testFolder(), "--log", "error", "--upstream", upstream];
  const running = startProgram(["serve", "--json", ...options, ...args], { cwd: testFolder() });
  let printed = "";
  running.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await running.says('"type":"listening"');
  const { url } = JSON.parse(printed.split("\n")[0] as string) as { url: string };
  return { url };
}

/**
 * Sends a body in HTTP chunks of `size` bytes; resolves with the response status, or with 0 if the connection was reset
 * first: a server that refuses a body still being sent cannot guarantee that its response arrives.
 */
async function sendChunks(url: string, body: Buffer, size: number): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const status = new Promise<number>((resolve) => {
    socket.once("data", (chunk) => resolve(Number(/HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))?.[1])));
    socket.once("close", () => resolve(0));
  });
  socket.on("error", () => {});
  let isAnswered = false;
  status.then(() => {
    isAnswered = true;
  });
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nx-api-key: k\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let at = 0; at < body.length && !isAnswered; at += size * 4_096) {
    let text = "";
    for (let from = at; from < Math.min(body.length, at + size * 4_096); from += size) {
      const piece = body.toString("latin1", from, from + size);
      text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    }
    if (!socket.write(text, "latin1"))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), status]);
  }
  if (!isAnswered) socket.write("0\r\n\r\n");
  const answer = await status;
  socket.destroy();
  return answer;
}

function bodyOf(bytes: number, word = "w"): Buffer {
  const messages = [{ role: "user", content: `${word} `.repeat(bytes / (word.length + 1)) }];
  return Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 10, messages }));
}

function post(url: string, body: Buffer, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const usual = { "content-type": "application/json", "content-length": body.length, "x-api-key": "k" };
    const request = openRequest(`${url}/v1/messages`, { method: "POST", headers: { ...usual, ...headers } });
    request.on("response", (response) =>
      response.resume().on("end", () => resolve(response.statusCode ?? 0)),
    );
    request.on("error", reject);
    request.end(body);
  });
}

describe("a body in many chunks", () => {
  test("a body in many chunks is answered if they are not absurdly small", async () => {
    const { url } = await serve();
    expect([400, 0]).toContain(await sendChunks(url, bodyOf(2 * MB), 1));
    expect(await sendChunks(url, bodyOf(10 * MB), 128)).toBe(200);
    expect(await sendChunks(url, bodyOf(100_000), 8)).toBe(200);
  });

  proofTest("a reply in chunks of one byte arrives", async () => {
    const { url } = await serve(["--policy", "none"]);
    expect(await post(url, bodyOf(1_000), { "x-crumbs": "1" })).toBe(200);
  });

  proofTest("small requests go on beside several large ones, and all are answered", async () => {
    const { url } = await serve();
    const large = bodyOf(50 * MB, "large");
    const answers = Array.from({ length: 8 }, (_, one) => post(url, large, { "x-api-key": `key-${one}` }));
    expect(await post(url, bodyOf(1_000, "small"))).toBe(200);
    expect(await Promise.all(answers)).toEqual(Array(8).fill(200));
  });
});

describe("a body", () => {
  proofTest("a body that finds no room in memory waits, and gets a 503 when none comes", async () => {
    const upstream = await startUpstream((_, response) => void setTimeout(() => response.end("{}"), 400));
    const limits = { maxHeldBytes: 3 * MB, bodyMs: 5_000 };
    const gateway = await startGateway({ upstream: upstream.url, config: { limits } });
    const body = bodyOf(2 * MB);
    const send = (key: string) => ask(gateway, { path: "/v1/messages", body, headers: { "x-api-key": key } });
    const [one, two] = [send("one"), send("two")];
    await upstream.received(1);
    expect(upstream.heard).toHaveLength(1);
    expect([(await one).status, (await two).status]).toEqual([200, 200]);

    upstream.answer(() => {});
    const brief = await startGateway({
      upstream: upstream.url,
      config: { limits: { maxHeldBytes: 3 * MB, bodyMs: 300 } },
    });
    const first = ask(brief, { path: "/v1/messages", body }).catch(() => undefined);
    await upstream.received(3);
    const late = await ask(brief, { path: "/v1/messages", body, headers: { "x-api-key": "other" } });
    expect(late.status).toBe(503);
    expect(late.text).toContain("limits.maxHeldBytes");
    await upstream.close();
    await first;
  });

  sizedTest("a body arrives the same, however it was cut into chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 40 }),
        fc.nat(200_000),
        (chunks, expected) => {
          const collector = new ByteCollector(expected);
          for (const chunk of chunks) collector.add(chunk);
          const whole = Buffer.concat(chunks);
          expect(collector.length).toBe(whole.length);
          expect(collector.bytes.equals(whole)).toBe(true);
          const taken = collector.take();
          expect(taken.equals(whole)).toBe(true);
          expect(collector.length).toBe(0);
          collector.add(Buffer.from("again"));
          expect(taken.equals(whole)).toBe(true);
        },
      ),
      { numRuns: proofRounds(100) },
    );
  });
});

describe("the limit of held bytes", () => {
  sizedTest(
    "the limit of held bytes is exceeded by at most one body, and no body waits for ever",
    async () => {
      const steps = fc.array(
        fc.record({ bytes: fc.integer({ min: 1, max: 40 * MB }), leaves: fc.boolean() }),
        {
          maxLength: 60,
        },
      );
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const limit = 30 * MB;
          const held = new HeldBytes(() => limit);
          let holders = 0;
          const ended: Promise<void>[] = [];
          for (const { bytes, leaves } of all) {
            const share = new ByteShare(held);
            const controller = new AbortController();
            const work = async () => {
              await share.raise(bytes, controller.signal);
              if (share.bytes === 0) return;
              holders++;
              expect(held.heldBytes <= 2 * limit || holders === 1).toBe(true);
              await sleep(0);
              holders--;
              share.settle(0);
              share.settle(0);
            };
            ended.push(work());
            if (leaves) controller.abort();
          }
          await Promise.all(ended);
          expect(held.heldBytes).toBe(0);
        }),
        { numRuns: proofRounds(50) },
      );
    },
  );
});
