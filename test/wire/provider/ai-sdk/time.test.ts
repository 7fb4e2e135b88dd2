import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aiSdkProvider } from "../../../../src/wire/provider/ai-sdk/index.ts";
import { turns } from "../../../support/eventually.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { wireApis, wireOptions } from "../../../support/wire-models.ts";
import { startWireServer, type WireServer } from "../../../support/wire-server/wire-server.ts";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

const reply = { text: "One two three four five six." };

describe("a call that takes too long", () => {
  sizedTest.each(proofCases(wireApis))(
    "a call ends at its time limit if no answer begins: $id",
    async ({ id }) => {
      server.script({ type: "stall" });
      const provider = aiSdkProvider(id, { ...wireOptions(server), timeouts: { firstByteMs: 300 } });
      await expect(provider.generate({ prompt: "hello" })).rejects.toMatchObject({
        code: "PROVIDER_TIMEOUT",
        details: { phase: "first-byte", timeoutMs: 300, isRetryable: true },
      });
      expect(await server.requests[0]?.closed).not.toBe(true);
    },
  );

  sizedTest.each(proofCases(wireApis))(
    "a call ends at its time limit if the stream stalls: $id",
    async ({ id }) => {
      server.script({ type: "stall-midway", reply, afterEvents: 5 });
      const provider = aiSdkProvider(id, { ...wireOptions(server), timeouts: { idleMs: 300 } });
      await expect(provider.generate({ prompt: "hello" })).rejects.toMatchObject({
        code: "PROVIDER_TIMEOUT",
        details: { phase: "idle", timeoutMs: 300 },
      });
      expect(await server.requests[0]?.closed).not.toBe(true);
    },
  );

  sizedTest.each(proofCases(wireApis))("a call ends at its own total time limit: $id", async ({ id }) => {
    server.script({ type: "stall-midway", reply, afterEvents: 5 });
    const provider = aiSdkProvider(id, {
      ...wireOptions(server),
      isStreaming: false,
      timeouts: { totalMs: 9_000 },
    });
    await expect(provider.generate({ prompt: "hello", timeouts: { totalMs: 300 } })).rejects.toMatchObject({
      code: "PROVIDER_TIMEOUT",
      details: { phase: "total", timeoutMs: 300 },
    });
    expect(await server.requests[0]?.closed).not.toBe(true);
  });
});

describe("a call that is aborted", () => {
  test.each(wireApis)("a call that was aborted before it began sends nothing: $id", async ({ id }) => {
    const provider = aiSdkProvider(id, wireOptions(server));
    const call = provider.generate({ prompt: "hello", signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(server.requests).toEqual([]);
  });

  test.each(wireApis)("a call that is aborted while it waits closes the connection: $id", async ({ id }) => {
    server.script({ type: "stall" });
    const controller = new AbortController();
    const provider = aiSdkProvider(id, wireOptions(server));
    const call = provider.generate({ prompt: "hello", signal: controller.signal });
    const outcome = expect(call).rejects.toMatchObject({ code: "ABORTED" });
    const request = await server.received(1);
    controller.abort();
    await outcome;
    expect(await request.closed).toBe(false);
  });

  test.each(wireApis)(
    "a call that is aborted in the middle of the answer closes the connection: $id",
    async ({ id }) => {
      server.script({ type: "stall-midway", reply, afterEvents: 6 });
      const controller = new AbortController();
      const provider = aiSdkProvider(id, wireOptions(server));
      const call = provider.generate({ prompt: "hello", signal: controller.signal });
      const outcome = expect(call).rejects.toMatchObject({ code: "ABORTED" });
      const request = await server.received(1);
      await turns();
      controller.abort();
      await outcome;
      expect(await request.closed).toBe(false);
    },
  );
});
