import { once } from "node:events";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { proofTest } from "../../../../support/proof.ts";
import { allClosed, askBare, event, open, startWorld } from "./world.ts";

/** Long enough that a pause of a busy machine is not taken for silence of the upstream. */
const STALLED_MS = 1_500;
const sse = { "content-type": "text/event-stream" };
const events = Array.from({ length: 6 }, (_, at) => event(`number ${at}`));
const keep = { transform: ({ raw }: { readonly raw: Buffer }) => raw };

describe("a failing client", () => {
  test("a client that aborts at any point ends the upstream's work at once", async () => {
    for (let count = 0; count <= events.length; count += 1) {
      const closed = Promise.withResolvers<void>();
      const world = await startWorld(
        (_, response) => {
          response.once("close", () => closed.resolve());
          response.writeHead(200, sse).flushHeaders();
          for (const one of events.slice(0, count)) response.write(one);
        },
        count % 2 ? keep : {},
      );
      const head = await open(world.url);
      let seen = 0;
      head.on("error", () => {});
      head.on("data", (chunk) => {
        seen += chunk.length;
      });
      while (seen < events.slice(0, count).join("").length) await once(head, "data");
      head.destroy();
      await closed.promise;
      expect(await world.outcome).toMatchObject({ ending: "client-gone", bytes: seen });
    }
  });

  test("a client that aborts before the answer begins ends the request", async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const world = await startWorld((_, response) => {
      response.once("close", closed.resolve);
      asked.resolve();
    });
    const socket = await askBare(world.port);
    await asked.promise;
    socket.destroy();
    await closed.promise;
    await expect(world.outcome).rejects.toMatchObject({ reason: "aborted" });
  });

  proofTest("a slow client slows the upstream down, and gets everything", async () => {
    const total = 48 * 1_024 * 1_024;
    let written = 0;
    const world = await startWorld((_, response) => {
      const piece = Buffer.alloc(64 * 1_024, 120);
      const more = () => {
        while (written < total) {
          written += piece.length;
          if (!response.write(piece)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    const head = await open(world.url);
    head.once("readable", () => {});
    await settled(() => written);
    expect(written).toBeLessThan(total);
    let read = 0;
    for await (const chunk of head) read += chunk.length;
    expect(read).toBe(total);
    expect(await world.outcome).toMatchObject({ ending: "complete", bytes: total });
  });

  proofTest("a slow client of compressed events is not flooded with their unpacked bytes", async () => {
    const line = event("x".repeat(8_000));
    const count = 3_000;
    const packed = zlib.gzipSync(line.repeat(count));
    let passed = 0;
    const world = await startWorld(
      (_, response) => {
        response.writeHead(200, { ...sse, "content-encoding": "gzip" }).end(packed);
      },
      {
        transform: ({ raw }) => {
          passed += 1;
          return raw;
        },
      },
    );
    const head = await open(world.url);
    head.once("readable", () => {});
    await settled(() => passed);
    expect(passed).toBeLessThan(count);
    let read = 0;
    for await (const chunk of head) read += chunk.length;
    expect(read).toBe(line.length * count);
  });

  proofTest("a client that stops reading is dropped together with the upstream connection", async () => {
    const world = await startWorld(
      (_, response) => {
        const piece = Buffer.alloc(64 * 1_024, 120);
        const more = () => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      },
      { idleMs: STALLED_MS },
    );
    const socket = await askBare(world.port);
    socket.pause();
    expect(await world.outcome).toMatchObject({ ending: "client-stalled" });
    await allClosed(world.upstream.connections);
    await allClosed(world.connections);
  });

  proofTest("a client that does not read the end of its answer is dropped", async () => {
    const world = await startWorld((_, response) => response.end(Buffer.alloc(12 * 1_024 * 1_024)), {
      idleMs: STALLED_MS,
    });
    const socket = await askBare(world.port);
    socket.pause();
    expect((await world.outcome).ending).toBe("client-stalled");
  });
});

/** Waits until a figure has stopped growing. */
async function settled(figure: () => number): Promise<void> {
  let last = -1;
  while (last !== figure()) {
    last = figure();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
