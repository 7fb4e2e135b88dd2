import { describe, expect, test } from "vitest";
import type { ApiDeps } from "../../../../src/server/api/index.ts";
import { LazyApi } from "../../../../src/server/gateway/pages/lazy-api.ts";
import { buildReadyPage } from "../../../../src/server/gateway/reception/answer-page.ts";
import { ask, startGateway } from "../../../support/gateway.ts";

describe("the health pages", () => {
  test("the health pages say that the gateway is alive and ready, and HEAD gets only the headers", async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
    const get = async (path: string, method = "GET") => ask(gateway, { method, path });
    expect(JSON.parse((await get("/healthz")).text)).toEqual({ status: "ok" });
    expect(JSON.parse((await get("/readyz")).text)).toEqual({ status: "ready", reasons: [] });
    for (const path of ["/healthz", "/readyz", "/api/v1/health", "/api/v1/sessions/none"]) {
      const { header } = await get(path);
      expect(header("cache-control"), path).toBe("no-store");
      expect(header("x-content-type-options"), path).toBe("nosniff");
      expect(header("x-frame-options"), path).toBe("DENY");
      expect(header("content-security-policy"), path).toContain("frame-ancestors 'none'");
      expect(header("referrer-policy"), path).toBe("no-referrer");
      expect(header("content-type"), path).toContain("application/json");
    }
    const head = await get("/healthz", "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(Number(head.header("content-length"))).toBeGreaterThan(10);
    const wrong = await ask(gateway, { path: "/healthz", body: "x".repeat(1_000) });
    expect(wrong.status).toBe(405);
    for (const path of ["/api/status", "/api/sessions", "/api/recall?q=x", "/api/constructor/x"])
      expect((await get(path)).status, path).toBe(404);
  });

  test("the gateway is not ready while it drains or when its store is closed", async () => {
    const { kernel, gateway } = await startGateway({ upstream: "http://127.0.0.1:9" });
    const usable = { isUsable: async () => true };
    const draining = { ...gateway.status(), isOpen: false };
    expect(await buildReadyPage(kernel, draining, usable)).toMatchObject({
      status: 503,
      json: { reasons: ["draining"] },
    });
    await gateway.close();
    await kernel.close();
    expect(await buildReadyPage(kernel, draining, usable)).toMatchObject({
      status: 503,
      json: { reasons: ["draining", "store"] },
    });
  });

  test("the gateway is not ready while its API fails to load, and each probe tries again", async () => {
    const { kernel, gateway } = await startGateway({ upstream: "http://127.0.0.1:9" });
    let failures = 2;
    const api = new LazyApi({
      get kernel() {
        if (failures-- > 0) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
        return kernel;
      },
      imports: { onChange: () => () => undefined },
    } as unknown as ApiDeps);
    await expect(api.load()).rejects.toThrow("too many open files");
    const page = async () => (await buildReadyPage(kernel, gateway.status(), api)).json;
    expect(await page()).toEqual({ status: "not ready", reasons: ["api"] });
    expect(await page()).toEqual({ status: "ready", reasons: [] });
    await api.close();
  });
});
