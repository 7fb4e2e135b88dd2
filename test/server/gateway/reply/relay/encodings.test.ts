import { once } from "node:events";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { SseSplitter } from "../../../../../src/server/gateway/reply/relay/sse-splitter.ts";
import { eventually } from "../../../../support/eventually.ts";
import { ask, event, open, startWorld } from "./world.ts";

const sse = { "content-type": "text/event-stream" };

describe("compressed answers", () => {
  const encodings = {
    gzip: zlib.createGzip,
    deflate: zlib.createDeflate,
    br: zlib.createBrotliCompress,
    ...(zlib.createZstdCompress ? { zstd: zlib.createZstdCompress } : {}),
  };

  test.each(Object.entries(encodings))(
    "the relay reads and changes events in %s, each as it comes",
    async (encoding, create) => {
      const steps: (() => void)[] = [];
      const world = await startWorld(
        (_, response) => {
          response.writeHead(200, { ...sse, "content-encoding": encoding });
          const coder = create();
          coder.pipe(response);
          const write = (text: string) => {
            coder.write(text);
            coder.flush();
          };
          steps.push(
            () => write(event("one")),
            () => write(event("two")),
            () => coder.end(),
          );
        },
        { transform: ({ data }) => `data: ${data.toUpperCase()}\n\n` },
      );
      const opening = open(world.url);
      await eventually("the request has reached the upstream", () => steps.length > 0);
      const seen: string[] = [];
      steps.shift()?.();
      const head = await opening;
      head.on("data", (chunk) => seen.push(String(chunk)));
      expect(head.headers["content-encoding"]).toBeUndefined();
      while (seen.join("") !== "data: ONE\n\n") await once(head, "data");
      steps.shift()?.();
      while (seen.join("") !== "data: ONE\n\ndata: TWO\n\n") await once(head, "data");
      steps.shift()?.();
      expect(await world.outcome).toMatchObject({ ending: "complete" });
    },
  );

  test.each(Object.entries(encodings))(
    "a tap reads an answer in %s while the client gets the compressed bytes",
    async (encoding, create) => {
      const events = Array.from({ length: 2_000 }, (_, at) => event(`number ${at} é`));
      const splitter = new SseSplitter();
      const tapped: string[] = [];
      const world = await startWorld(
        (_, response) => {
          response.writeHead(200, { ...sse, "content-encoding": encoding });
          const coder = create();
          coder.pipe(response);
          coder.end(events.join(""));
        },
        { tap: (bytes) => tapped.push(...splitter.push(bytes).map(({ raw }) => raw.toString())) },
      );
      const head = await open(world.url);
      const bytes: Buffer[] = [];
      for await (const chunk of head) bytes.push(chunk);
      const [outcome] = await Promise.all(world.relayed);
      expect(outcome).toMatchObject({
        ending: "complete",
        bytes: Buffer.concat(bytes).length,
        tapFailure: undefined,
      });
      expect(head.headers["content-encoding"]).toBe(encoding);
      expect(tapped).toEqual(events);
    },
  );

  test.each(["gzip", "unheard-of"])(
    "an answer whose encoding %s is false or unknown is passed on unchanged",
    async (encoding) => {
      const world = await startWorld(
        (_, response) => response.writeHead(200, { "content-encoding": encoding }).end("not so"),
        { tap: () => {} },
      );
      expect(await ask(world.url)).toMatchObject({ text: "not so", isWhole: true });
      expect((await world.outcome).tapFailure).toMatchObject({ reason: "malformed" });
    },
  );
});
