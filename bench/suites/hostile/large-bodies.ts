import { randomBytes } from "node:crypto";
import { FINE } from "../../../test/support/plain-reply.ts";
import type { ChildPlace } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { expectWhole, openClient } from "../gateway/client.ts";
import { type Contestant, openContestant } from "../gateway/contestant.ts";
import { openUpstream } from "../gateway/upstream.ts";

interface Held {
  /** Growth of RSS at its peak, in bytes per byte of all bodies. */
  readonly perByte: number;
  /** Longest response time of `/healthz` meanwhile. */
  readonly longestMs: number;
}

interface Input {
  readonly shape: string;
  readonly megabytes: number;
  readonly atOnce: number;
}

const MAX_PER_BYTE = 3;
const MAX_HOLD_UP_MS = 100;
const PAUSE_MS = 2;

const says = (content: unknown) => ({ role: "user", content });
const prose = (bytes: number) => "A line of a text that somebody has pasted.\n".repeat(bytes / 44);
const asked = (input: unknown) => [
  says("go"),
  { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "write", input }] },
  says([{ type: "tool_result", tool_use_id: "toolu_1", content: "done" }]),
];

function image(bytes: number): object {
  const data = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(bytes)]).toString("base64");
  return { type: "image", source: { type: "base64", media_type: "image/png", data } };
}

/** Builders of messages with about `bytes` bytes, by the kind of content. */
const SHAPES: Readonly<Record<string, (bytes: number) => readonly object[]>> = {
  "one text": (bytes) => [says(prose(bytes))],
  "one image": (bytes) => [says([image((bytes * 3) / 4)])],
  "30 images": (bytes) => [says(Array.from({ length: 30 }, () => image(bytes / 40)))],
  "one call": (bytes) => asked({ content: prose(bytes) }),
  "numbers in a call": (bytes) => asked({ list: Array(Math.floor(bytes / 2)).fill(1) }),
  "small blocks": (bytes) => [
    says(Array.from({ length: bytes / 60 }, (_, at) => ({ type: "text", text: `block ${at} of text` }))),
  ],
  "8,000 calls and results": (bytes) => {
    const each = prose(bytes / 8_000);
    const ids = Array.from({ length: 4_000 }, (_, at) => `toolu_${at}`);
    const calls = ids.map((id) => ({ type: "tool_use", id, name: "read", input: { path: each } }));
    const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: each }));
    return [says("go"), { role: "assistant", content: calls }, says(results)];
  },
  "6,000 messages": (bytes) =>
    Array.from({ length: 6_001 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `${at} ${prose(bytes / 6_000)}`,
    })),
};

function bodyOf(messages: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 10, messages }));
}

/** Sends large bodies through a gateway in its own process; measures its memory and its delay for other requests. */
export async function holdUp({ shape, megabytes, atOnce }: Input, { folder }: ChildPlace): Promise<Held> {
  const make = SHAPES[shape];
  if (!make) throw new Error(`There is no shape ${shape}.`);
  const answer = { status: 200, type: "application/json", chunks: [Buffer.from(FINE)] };
  const upstream = await openUpstream(() => answer);
  const gateway = await openContestant({ type: "gateway", upstream: upstream.url, folder });
  const client = openClient(atOnce + 1);
  try {
    for (let round = 0; round < 5; round++)
      expectWhole(await client.ask(gateway.url, bodyOf([says(`warm ${round}`)])));
    const body = bodyOf(make(megabytes * 1e6));
    const { rssBytes } = await gateway.settled();
    const asked = Array.from({ length: atOnce }, (_, one) =>
      client.ask(gateway.url, body, { "x-api-key": `key-${one}` }).then(expectWhole),
    );
    const longestMs = await longestLook(gateway, Promise.all(asked));
    const { peakRssBytes } = await gateway.used();
    return { perByte: (peakRssBytes - rssBytes) / (body.length * atOnce), longestMs };
  } finally {
    client.close();
    await gateway.close();
    upstream.close();
  }
}

async function longestLook({ url }: Contestant, all: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = all.finally(() => {
    isOver = true;
  });
  let longestMs = 0;
  while (!isOver) {
    const startedMs = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await over;
  return longestMs;
}

/** Memory that large bodies take, and the delay that they cause for other requests. */
export const largeBodies: Measurement = {
  name: "large bodies",
  async *run(bench) {
    const megabytes = bench.isQuick ? 15 : 60;
    const inputs = Object.keys(SHAPES).map((shape) => ({ shape, megabytes, atOnce: 1 }));
    for (const input of [...inputs, { shape: "one text", megabytes, atOnce: 8 }]) {
      const { shape, atOnce } = input;
      const name = `${atOnce > 1 ? `${atOnce} × ` : ""}${shape}, ${megabytes} MB`;
      const { perByte, longestMs } = await bench.child(name, import.meta.url, holdUp, input);
      yield toRow({
        id: `body.memory: ${name}`,
        value: perByte,
        unit: "bytes a byte",
        goal: atMost(MAX_PER_BYTE, "bytes a byte"),
      });
      yield toRow({
        id: `body.hold-up: ${name}`,
        value: longestMs,
        unit: "ms",
        goal: atMost(MAX_HOLD_UP_MS, "ms"),
      });
    }
  },
};
