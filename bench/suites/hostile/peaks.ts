import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { copyString } from "../../../src/model/text-codes.ts";
import { FINE, talkOn } from "../../../test/support/plain-reply.ts";
import type { ChildPlace } from "../../child-job.ts";
import { currentMemory, megabytes, settledMemory } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { openClient } from "../gateway/client.ts";
import { openContestant } from "../gateway/contestant.ts";

const MB = 1e6;
/** Replies of hostile providers, with the most that the gateway may grow by while it relays one, in MB. */
const REPLIES: Readonly<
  Record<string, readonly [limit: number, answer: (response: ServerResponse) => void]>
> = {
  "an endless stream": [
    450,
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      void talkOn(response, 150 * MB);
    },
  ],
  "an endless packed stream": [
    450,
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const packed = createGzip();
      packed.pipe(response);
      void talkOn(packed, 150 * MB);
    },
  ],
  "400 MB packed into a small error": [
    300,
    (response) => {
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      response.writeHead(400, headers).end(gzipSync(Buffer.alloc(400 * MB, "x")));
    },
  ],
  "a reply in chunks of one byte": [
    300,
    async (response) => {
      response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
      const { socket } = response;
      const crumbs = "1\r\nx\r\n".repeat(4_096);
      for (let sent = 0; sent < 2 * MB; sent += 4_096)
        if (!socket?.write(crumbs)) await new Promise((resolve) => socket?.once("drain", resolve));
      response.end();
    },
  ],
};

/** Growth of a gateway's RSS at its peak while a hostile provider answers; without a name, while a request crumbles. */
export async function peakOf(
  { reply }: { readonly reply: string | null },
  { folder }: ChildPlace,
): Promise<number> {
  let isHostile = false;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const hostile = isHostile && reply !== null ? REPLIES[reply]?.[1] : undefined;
      if (hostile) hostile(response);
      else response.writeHead(200, { "content-type": "application/json" }).end(FINE);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const gateway = await openContestant({ type: "gateway", upstream: `http://127.0.0.1:${port}`, folder });
  const client = openClient(1);
  const body = (text: string, more: object = {}) =>
    Buffer.from(
      JSON.stringify({
        model: "claude-sonnet-4-5",
        max_tokens: 10,
        messages: [{ role: "user", content: text }],
        ...more,
      }),
    );
  try {
    for (let round = 0; round < 5; round++) await client.ask(gateway.url, body(`warm ${round}`));
    const { rssBytes } = await gateway.settled();
    isHostile = true;
    if (reply === null) await sendCrumbs(gateway.url, body("w ".repeat(5 * MB)), 128);
    else await client.ask(gateway.url, body("Talk.", { stream: true })).catch(() => undefined);
    const { peakRssBytes } = await gateway.used();
    return peakRssBytes - rssBytes;
  } finally {
    client.close();
    await gateway.close();
    server.closeAllConnections();
    server.close();
  }
}

/** Sends a body in HTTP chunks of `size` bytes, and resolves when it is answered or refused. */
async function sendCrumbs(url: string, body: Buffer, size: number): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  const ended = new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
    socket.once("close", () => resolve());
  });
  const head = `POST /v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nx-api-key: k`;
  socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  for (let at = 0; at < body.length; at += size) {
    const piece = body.toString("latin1", at, at + size);
    if (!socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`, "latin1"))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), ended]);
  }
  socket.write("0\r\n\r\n");
  await ended;
  socket.destroy();
}

const TEXTS = 40;
const TEXT_BYTES = 500_000;

/** Bytes that short copies of long texts keep in memory. */
export async function keptByCopies(): Promise<number> {
  const before = (await settledMemory()).heapBytes;
  const kept = Array.from({ length: TEXTS }, (_, n) =>
    copyString(Buffer.alloc(TEXT_BYTES, `text ${n} `).toString("latin1").slice(-40)),
  );
  globalThis.gc?.();
  const after = currentMemory().heapBytes;
  return kept.length === TEXTS ? after - before : Number.POSITIVE_INFINITY;
}

/** Memory that a hostile provider, a crumbling request and copies of texts take at most. */
export const peaks: Measurement = {
  name: "peaks",
  async *run(bench) {
    const inputs = [...Object.entries(REPLIES).map(([name, [limit]]) => [name, limit] as const)];
    for (const [name, limit] of [...inputs, [null, 150] as const]) {
      const what = name ?? "a request of 10 MB in chunks of 128 bytes";
      const bytes = await bench.child(what, import.meta.url, peakOf, { reply: name });
      yield toRow({
        id: `peak: ${what}`,
        value: megabytes(bytes),
        unit: "MB of growth",
        goal: atMost(limit, "MB"),
      });
    }
    const bytes = await bench.child("copies", import.meta.url, keptByCopies, undefined);
    const limit = (TEXTS * TEXT_BYTES) / 4 / MB;
    yield toRow({
      id: `kept: ${TEXTS} short copies of texts`,
      value: megabytes(bytes),
      unit: "MB",
      goal: atMost(limit, "MB"),
    });
  },
};
