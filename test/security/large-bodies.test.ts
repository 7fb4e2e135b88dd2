import { writeFileSync } from "node:fs";
import { createServer, request as openRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { startProgram } from "../cli/support/program.ts";
import { testFolder } from "../support/folder.ts";
import { FINE } from "../support/plain-reply.ts";
import { proofCases, proofTest, sizedTest } from "../support/proof.ts";

const MB = 1e6;
const isLinux = process.platform === "linux";

interface Block {
  readonly [field: string]: unknown;
}

/** A provider that keeps the bytes of the last request and replies at once. */
async function provider() {
  let last = Buffer.alloc(0);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      last = Buffer.concat(chunks);
      response.writeHead(200, { "content-type": "application/json" }).end(FINE);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, last: () => last };
}

/** A gateway in its own process. */
async function serve(config: object = {}) {
  const upstream = await provider();
  const store = testFolder();
  writeFileSync(join(store, "longhaul.json"), JSON.stringify(config), { mode: 0o600 });
  const options = ["--port", "0", "--store", store, "--log", "error", "--upstream", upstream.url];
  const running = startProgram(["serve", "--json", ...options], {
    cwd: testFolder(),
    nodeOptions: ["--max-semi-space-size=8"],
  });
  let printed = "";
  running.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await running.says('"type":"listening"');
  const { url } = JSON.parse(printed.split("\n")[0] as string) as { url: string };
  return { url, upstream, store, running };
}

function post(url: string, body: Buffer, key = "k"): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length, "x-api-key": key };
    const request = openRequest(`${url}/v1/messages`, { method: "POST", headers });
    request.on("response", (response) =>
      response.resume().on("end", () => resolve(response.statusCode ?? 0)),
    );
    request.on("error", reject);
    request.end(body);
  });
}

function requestOf(...messages: readonly Block[]): Buffer {
  return Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 10, messages }));
}

const says = (content: unknown): Block => ({ role: "user", content });

let images = 0;

/** An image that differs from all others. */
function image(bytes: number): Block {
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(bytes, 7)]);
  png.writeUInt32LE(images++, 100);
  const data = png.toString("base64");
  return { type: "image", source: { type: "base64", media_type: "image/png", data } };
}

const text = (bytes: number) => 'a line of "text"\n'.repeat(bytes / 19);
const call = (input: unknown) => ({
  role: "assistant",
  content: [{ type: "tool_use", id: "toolu_1", name: "write", input }],
});
const result = says([{ type: "tool_result", tool_use_id: "toolu_1", content: "done" }]);

/** Builders of bodies of about 40 MB, by the kind of content. */
const SHAPES: Readonly<Record<string, () => Buffer>> = {
  "one text": () => requestOf(says(text(40 * MB))),
  "one image": () => requestOf(says([image(30 * MB)])),
  "thirty images": () => requestOf(says(Array.from({ length: 30 }, () => image(1 * MB)))),
  "one call": () => requestOf(says("go"), call({ content: text(40 * MB) }), result),
  "numbers in a call": () => requestOf(says("go"), call({ list: Array(20 * MB).fill(1) }), result),
  "small blocks": () =>
    requestOf(
      says(Array.from({ length: 700_000 }, (_, at) => ({ type: "text", text: `block ${at} of it` }))),
    ),
  "a system prompt": () =>
    Buffer.from(
      JSON.stringify({ model: "claude-sonnet-4-5", system: text(40 * MB), messages: [says("hi")] }),
    ),
};

describe.skipIf(!isLinux)("a large body", () => {
  sizedTest.each(proofCases(Object.entries(SHAPES)))(
    "a large body of %s reaches the provider byte for byte",
    async (_, make) => {
      const { url, upstream } = await serve();
      const body = make();
      expect(await post(url, body)).toBe(200);
      expect(upstream.last().equals(body)).toBe(true);
    },
  );

  proofTest("other requests are answered while a large body is prepared", async () => {
    const { url } = await serve();
    const body = SHAPES["numbers in a call"]?.() as Buffer;
    const order: string[] = [];
    const large = post(url, body, "large").then(() => order.push("large"));
    for (let small = 0; small < 20; small++)
      await post(url, requestOf(says(`small ${small}`)), "small").then(() => order.push("small"));
    await large;
    expect(order.indexOf("large")).toBe(20);
  });

  proofTest("a large body is stored as it was said, whichever part of it is large", async () => {
    const { url, store, running } = await serve();
    const words = `${text(2 * MB)} ${"\u{1f600}é\\".repeat(100_000)} end`;
    const picture = image(2 * MB);
    const list = Array.from({ length: 300_000 }, (_, at) => at);
    const blocks = [{ type: "text", text: words }, picture, { type: "odd", value: words }];
    const body = requestOf(says(blocks), call({ list, words }), result);
    expect(await post(url, body)).toBe(200);
    running.process.kill("SIGTERM");
    await running.ended;
    await using kernel = await openKernel({ path: store });
    const [info] = await kernel.sessions();
    await using session = await kernel.session(info?.id as string);
    const { entries } = await session.page({ kinds: ["message"], limit: 10 });
    const parts = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
    const blobs = parts.filter((part) => part.type === "blob");
    const kept = await Promise.all(blobs.map((part) => kernel.blobs.restore(part)));
    expect(kept[0]).toEqual({ type: "text", text: words });
    const source = picture.source as { readonly data: string };
    const bytes = await kernel.blobs.bytes(blobs[1]?.digest ?? "");
    expect(Buffer.from(bytes).toString("base64") === source.data).toBe(true);
    expect(kept[2]).toEqual({ type: "raw", format: "anthropic", value: { type: "odd", value: words } });
    expect(kept[3]).toEqual({
      type: "tool-call",
      callId: "toolu_1",
      name: "write",
      input: { list, words },
    });
  });

  proofTest("a large body is recognized in the next request", async () => {
    const { url, store, running } = await serve();
    const first = says([
      { type: "text", text: text(2 * MB) },
      image(1 * MB),
      { type: "odd", value: text(MB) },
    ]);
    const reply = { role: "assistant", content: "fine" };
    expect(await post(url, requestOf(first))).toBe(200);
    expect(await post(url, requestOf(first, reply, says("more")))).toBe(200);
    running.process.kill("SIGTERM");
    await running.ended;
    await using kernel = await openKernel({ path: store });
    const [info, ...others] = await kernel.sessions();
    expect(others).toEqual([]);
    await using session = await kernel.session(info?.id as string);
    expect((await session.page({ kinds: ["message"], limit: 10 })).entries).toHaveLength(4);
  });

  proofTest("a large body loses its secrets if redaction is on", async () => {
    const { url, store, running } = await serve({ redact: true });
    const secret = `sk-ant-api03-${"Ab1".repeat(31)}`;
    const words = `${text(1.5 * MB)}\nANTHROPIC_API_KEY=${secret}\n${text(1.5 * MB)}`;
    const body = requestOf(says(words), call({ content: words }), result);
    expect(await post(url, body)).toBe(200);
    running.process.kill("SIGTERM");
    await running.ended;
    await using kernel = await openKernel({ path: store });
    const [info] = await kernel.sessions();
    await using session = await kernel.session(info?.id as string);
    const { entries } = await session.page({ kinds: ["message"], limit: 10 });
    const parts = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
    const blobs = parts.filter((part) => part.type === "blob");
    const texts = await Promise.all(blobs.map(({ digest }) => kernel.blobs.text(digest)));
    expect(texts.map((one) => [one.length > 2.5 * MB, one.includes(secret)])).toEqual([
      [true, false],
      [true, false],
    ]);
  });
});

describe("deeply nested JSON", () => {
  const deep = (levels: number, open = "[", close = "]") => open.repeat(levels) + close.repeat(levels);
  const withInput = (input: string) =>
    Buffer.from(
      `{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"write","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]}]}`,
    );

  sizedTest.each(proofCases([10_000, 900, 2_000, 100_000, 1_000_000]))(
    "JSON that is nested %i levels deep is forwarded without a failure",
    async (levels) => {
      const { url, upstream } = await serve();
      for (const body of [
        withInput(deep(levels)),
        withInput(deep(levels, '{"a":', "}").replace(":}", ":1}")),
      ]) {
        expect(await post(url, body)).toBe(200);
        expect(upstream.last().equals(body)).toBe(true);
      }
      const field = Buffer.from(
        `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"go"}],"metadata":${deep(levels)},"system":${deep(levels)}}`,
      );
      expect(await post(url, field)).toBe(200);
    },
  );
});
