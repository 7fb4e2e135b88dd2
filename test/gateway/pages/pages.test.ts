import { describe, expect, test } from "vitest";
import { SPENDING, servePages } from "./support/served.ts";

const EVIL = `"><script>alert(1)</script>`;

describe("pages for supervisors", () => {
  test("say that the gateway is alive and ready", async () => {
    const { json } = await servePages();
    expect(await json("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
    expect(await json("/readyz")).toEqual({ status: 200, body: { status: "ready", reasons: [] } });
  });

  test("say that it is not ready while it drains, and when its store is closed", async () => {
    const { json, kernel } = await servePages({ told: { isOpen: false } });
    expect(await json("/readyz")).toMatchObject({ status: 503, body: { reasons: ["draining"] } });
    await kernel.close();
    expect(await json("/readyz")).toMatchObject({ status: 503, body: { reasons: ["draining", "store"] } });
    expect(await json("/healthz")).toMatchObject({ status: 200 });
  });
});

describe("the status for programs", () => {
  test("tells upstreams, which keys are set and what could be, savings and what to paste", async () => {
    const { json } = await servePages({ env: { ANTHROPIC_API_KEY: "sk-secret" } });
    const { body } = await json("/api/status");
    expect(body).toMatchObject({
      version: "1.2.3",
      isOpen: true,
      settings: { policy: "longhaul", threshold: 75 },
    });
    expect(body.upstreams[0]).toMatchObject({ name: "anthropic", hasKey: true, requests: 3, failures: 1 });
    expect(body.upstreams[1]).toMatchObject({ name: "openai", hasKey: false });
    expect(body.missing).toContainEqual({ name: "google", variable: "GEMINI_API_KEY" });
    expect(body.totals.spending).toEqual(SPENDING);
    expect(body.totals.spending.savings.basis).toBe("estimated");
    expect(body.agents[0].lines).toBe("ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude");
    expect(JSON.stringify(body)).not.toContain("sk-secret");
  });

  test("tells a reader of a part nothing of others", async () => {
    const thread = {
      kind: "main",
      tokens: 1,
      window: 2,
      requests: 1,
      spending: SPENDING,
      edits: [],
      lastAt: 1,
      inFlight: 0,
    };
    const threads = [
      { ...thread, session: "a/1" },
      { ...thread, session: "b/1" },
    ];
    const { json } = await servePages({ told: { threads } });
    const { body } = await json("/api/status", { headers: { "x-reader": "a/" } });
    expect(body.threads.map(({ session }: { session: string }) => session)).toEqual(["a/1"]);
    expect(body.totals).toBeUndefined();
  });
});

describe("every page", () => {
  test("is kept by nobody, framed by nobody and guessed at by nobody", async () => {
    const { get } = await servePages();
    for (const path of ["/healthz", "/api/status", "/api/sessions", "/api/sessions/none", "/api/import"]) {
      const { headers } = await get(path);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
    }
  });

  test("answers HEAD with the head alone", async () => {
    const { get } = await servePages();
    for (const path of ["/healthz", "/api/status"]) {
      const response = await get(path, { method: "HEAD" });
      expect(response.status).toBe(200);
      expect(Number(response.headers.get("content-length"))).toBeGreaterThan(10);
      expect(await response.text()).toBe("");
    }
  });

  test("says which methods it knows", async () => {
    const { get, json } = await servePages();
    for (const path of ["/healthz", "/api/status", "/api/sessions", "/api/recall?q=x", "/api/replay/x"]) {
      const response = await get(path, { method: "POST", body: "x".repeat(1_000) });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
    }
    expect((await json("/api/import", { method: "PUT" })).body.error.code).toBe("METHOD_NOT_ALLOWED");
  });

  test("quotes what it was asked in JSON that no browser takes for markup", async () => {
    const { get } = await servePages();
    const response = await get(`/api/sessions/${encodeURIComponent(EVIL)}`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toMatchObject({ error: { code: "SESSION_NOT_FOUND" } });
  });

  test("leaves all other paths to others", async () => {
    const { get } = await servePages();
    for (const path of [
      "/v1/messages",
      "/api",
      "/api/",
      "/api/other",
      "/healthz/x",
      "//",
      "/metrics",
      "/api/constructor/x",
    ])
      expect((await get(path)).status, path).toBe(418);
  });

  test("tells nothing of our insides when it fails", async () => {
    const { kernel, errors, json } = await servePages();
    Object.defineProperty(kernel, "memory", {
      get: () => {
        throw new TypeError("the secret place");
      },
    });
    const { status, body } = await json("/api/recall?q=x");
    expect(status).toBe(500);
    expect(body.error.code).toBe("UNEXPECTED");
    expect(JSON.stringify(body)).not.toContain("secret place");
    expect(errors).toHaveLength(1);
  });
});
