import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";

const PNG = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ${"A".repeat(120_000)}`;
const IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const SOUND = Buffer.from("sound ".repeat(20_000)).toString("base64");
const SOURCE = {
  type: "url_citation",
  url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 3 },
};

/** The model's reply by request index. */
type Reply = (index: number) => WireObject;

/** Converts a reply to the form in which a client stores it. */
type Keep = (reply: WireObject, index: number) => WireObject;

function answer(response: ServerResponse, reply: WireObject, isStreamed: boolean): void {
  const head = { id: "chatcmpl-1", object: "chat.completion", model: "gpt-4.1" };
  if (!isStreamed) {
    const message = { role: "assistant", content: null, ...reply };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: "stop" }] }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  send({ role: "assistant" });
  for (const delta of deltasOf(reply)) send(delta);
  send({}, "stop");
  response.end("data: [DONE]\n\n");
}

function deltasOf({ audio, ...rest }: WireObject): readonly WireObject[] {
  if (!audio) return [rest];
  const { id, transcript, data, expires_at } = audio as Record<string, string>;
  const half = (transcript as string).length >> 1;
  const bytes = Buffer.from(data as string, "base64");
  return [
    { ...rest, audio: { id, transcript: transcript?.slice(0, half) } },
    { audio: { data: bytes.subarray(0, 1_001).toString("base64") } },
    { audio: { transcript: transcript?.slice(half), data: bytes.subarray(1_001).toString("base64") } },
    { audio: { expires_at } },
  ];
}

async function talk(reply: Reply, keep: Keep, isStreamed: boolean): Promise<TestGateway> {
  const upstream = await startUpstream((_, response, index) => answer(response, reply(index), isStreamed));
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, "openai-chat");
  agent.fields.stream = isStreamed;
  for (let index = 0; index < 3; index++) {
    agent.elements.push({ role: "user", content: `Question ${index}.` });
    expect((await agent.send()).status).toBe(200);
    agent.elements.push({ role: "assistant", content: null, ...keep(reply(index), index) });
    expect(upstream.heard[index]?.json.messages).toEqual(agent.elements.slice(0, -1));
  }
  return gateway;
}

async function repliesIn(gateway: TestGateway) {
  const mains = await threadsOf(gateway, "main");
  expect(mains).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(mains[0]?.id));
  expect(log).toHaveLength(6);
  return log.flatMap(({ message }) => (message.role === "assistant" ? [message] : []));
}

describe.each([
  ["streamed", true],
  ["whole", false],
] as const)("a %s reply of Chat Completions", (_, isStreamed) => {
  test.each<[string, Keep]>([
    ["sent back", (reply) => reply],
    ["left out", ({ content }) => ({ content })],
  ])("a reply of Chat Completions keeps pictures that the client has %s", async (_name, keep) => {
    const reply: Reply = (index) => ({ content: `Picture ${index}.`, images: [IMAGE] });
    const gateway = await talk(reply, keep, isStreamed);
    for (const [index, { parts }] of (await repliesIn(gateway)).entries()) {
      expect(parts).toMatchObject([
        { type: "text", text: `Picture ${index}.` },
        { type: "blob", mime: "image/png" },
      ]);
      const [, picture] = parts;
      const bytes = picture?.type === "blob" && (await gateway.kernel.blobs.bytes(picture.digest));
      expect(Buffer.from(bytes || []).toString("base64")).toBe(PNG);
    }
  });

  test("a reply of Chat Completions that is only a picture is kept", async () => {
    const gateway = await talk(
      () => ({ images: [IMAGE] }),
      (reply) => reply,
      isStreamed,
    );
    for (const { parts } of await repliesIn(gateway))
      expect(parts).toMatchObject([{ type: "blob", mime: "image/png" }]);
  });

  test.each<[string, Keep]>([
    ["its id", ({ audio }) => ({ audio: { id: (audio as WireObject).id } })],
    ["its words", ({ audio }) => ({ content: (audio as WireObject).transcript })],
    ["all of it", (reply) => reply],
  ])("a spoken reply is kept if the client sends back %s", async (_name, keep) => {
    const reply: Reply = (index) => ({
      audio: { id: `audio_${index}`, transcript: `Said aloud ${index}.`, data: SOUND, expires_at: 1_999 },
    });
    const gateway = await talk(reply, keep, isStreamed);
    for (const [index, { parts }] of (await repliesIn(gateway)).entries()) {
      expect(parts).toMatchObject([
        { type: "text", text: `Said aloud ${index}.` },
        { type: "blob", mime: "audio/pcm" },
        { type: "raw", value: { type: "audio", audio: { id: `audio_${index}`, expires_at: 1_999 } } },
      ]);
      const [, sound] = parts;
      const bytes = sound?.type === "blob" && (await gateway.kernel.blobs.bytes(sound.digest));
      expect(Buffer.from(bytes || []).toString("base64")).toBe(SOUND);
    }
  });

  test.each<[string, Keep]>([
    ["sent back", (reply) => reply],
    ["left out", ({ content }) => ({ content })],
  ])("a reply of Chat Completions keeps sources that the client has %s", async (_name, keep) => {
    const reply: Reply = (index) => ({ content: `Found ${index}.`, annotations: [SOURCE] });
    for (const { meta } of await repliesIn(await talk(reply, keep, isStreamed)))
      expect(meta).toMatchObject({ "openai-chat": { annotations: [SOURCE] } });
  });
});
