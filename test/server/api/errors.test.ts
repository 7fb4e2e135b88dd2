import { describe, expect, test } from "vitest";
import { ask, startGateway } from "../../support/gateway.ts";
import { ApiClient } from "./support/api-client.ts";

describe("an error", () => {
  test("every error has a code, a message, a remedy and the fitting status", async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
    const api = await ApiClient.open(gateway);
    await api.post("/sessions", { id: "s" });
    await api.post("/sessions/s/entries", { messages: [{ role: "user", text: "Hello." }] });
    const cases: readonly [string, string, object | undefined, number, string][] = [
      ["GET", "/sessions?limit=0", undefined, 400, "REQUEST_INVALID"],
      ["GET", "/sessions?limt=5", undefined, 400, "REQUEST_INVALID"],
      ["GET", "/sessions/none", undefined, 404, "SESSION_NOT_FOUND"],
      ["POST", "/sessions", { id: "s" }, 409, "SESSION_EXISTS"],
      ["POST", "/sessions", { id: "a\u0000b" }, 400, "ARGUMENT_INVALID"],
      ["POST", "/sessions", { meta: { gateway: {} } }, 400, "REQUEST_INVALID"],
      ["POST", "/sessions", { id: "memory:default" }, 403, "FORBIDDEN"],
      ["POST", "/sessions/s/entries", { messages: [] }, 400, "REQUEST_INVALID"],
      ["POST", "/sessions/s/entries", { messages: [{ role: "robot", text: "x" }] }, 400, "REQUEST_INVALID"],
      [
        "POST",
        "/sessions/s/entries",
        { messages: [{ role: "user", text: "x" }], expectedHead: 9 },
        409,
        "POSITION_CONFLICT",
      ],
      ["GET", "/sessions/s/entries/99", undefined, 404, "ENTRY_NOT_FOUND"],
      ["GET", "/sessions/s/entries?before=x", undefined, 400, "ARGUMENT_INVALID"],
      ["POST", "/sessions/s/revert", {}, 404, "ENTRY_NOT_FOUND"],
      ["POST", "/sessions/s/revert", { overlay: 3, to: 4 }, 400, "REQUEST_INVALID"],
      ["POST", "/sessions/s/fit", {}, 400, "REQUEST_INVALID"],
      ["POST", "/sessions/s/redact", { entries: [1], confirm: "old" }, 409, "PREVIEW_CHANGED"],
      ["POST", "/sessions/s/lines", { line: 77 }, 404, "ENTRY_NOT_FOUND"],
      ["GET", "/memories?before=x", undefined, 400, "ARGUMENT_INVALID"],
      ["POST", "/memories/x/forget", {}, 400, "ARGUMENT_INVALID"],
      ["GET", "/tasks/none", undefined, 404, "TASK_NOT_FOUND"],
      ["GET", "/jobs/none", undefined, 404, "JOB_NOT_FOUND"],
      ["POST", "/replays", { session: "s", policies: ["none-such"] }, 400, "REQUEST_INVALID"],
      ["GET", "/usage?from=yesterday", undefined, 400, "REQUEST_INVALID"],
      ["GET", "/usage?from=2026-02-30", undefined, 400, "REQUEST_INVALID"],
      ["GET", "/recall", undefined, 400, "REQUEST_INVALID"],
      ["GET", "/expand?entry=s", undefined, 400, "ARGUMENT_INVALID"],
    ];
    for (const [method, path, body, status, code] of cases) {
      const answer = await api.fetch(path, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      const { error } = (await answer.json()) as { error: Record<string, string> };
      expect([path, answer.status, error?.code]).toEqual([path, status, code]);
      expect(error.message).not.toBe("");
      expect(error.remedy).toMatch(/[.!]$/);
    }
    expect((await api.get("/sessions/s")).body.entries).toBe(1);
  });

  test("a wrong path, method or body gets an error in the same form", async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
    const send = async (method: string, path: string, body?: string) => {
      const { status, text, header } = await ask(gateway, {
        method,
        path,
        ...(body !== undefined && { body }),
      });
      return { status, code: JSON.parse(text).error.code, allow: header("allow") };
    };
    expect(await send("GET", "/api/v1/nothing")).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    expect(await send("GET", "/api/v1")).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    expect(await send("DELETE", "/api/v1/sessions")).toMatchObject({ status: 405, allow: "HEAD, GET, POST" });
    expect(await send("PUT", "/api/v1/sessions")).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(await send("POST", "/api/v1/sessions", "{")).toMatchObject({
      status: 400,
      code: "REQUEST_INVALID",
    });
    expect(await send("POST", "/api/v1/sessions", "[1]")).toMatchObject({
      status: 400,
      code: "REQUEST_INVALID",
    });
    expect(await send("POST", "/openapi.json")).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    const head = await ask(gateway, { method: "HEAD", path: "/api/v1/sessions" });
    expect(head).toMatchObject({ status: 200, text: "" });
  });
});

test("streams end at once when the gateway closes", async () => {
  const gateway = await startGateway({
    upstream: "http://127.0.0.1:9",
    config: { limits: { drainMs: 20_000 } },
  });
  const api = await ApiClient.open(gateway);
  await api.post("/sessions", { id: "s" });
  const tail = await api.fetch("/sessions/s/tail");
  const events = await api.fetch("/events");
  const closing = gateway.close();
  expect(await tail.text()).toContain(": open");
  expect(await events.text()).toContain(": open");
  await closing;
});

test("a client that leaves a stream leaves no listener behind", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const api = await ApiClient.open(gateway);
  await api.post("/sessions", { id: "s" });
  for (let turn = 0; turn < 3; turn++) {
    const stop = new AbortController();
    await api.fetch("/sessions/s/tail", { signal: stop.signal });
    stop.abort();
  }
  await expect.poll(() => gateway.kernel.counts().tail).toEqual({ opened: 3, closed: 3 });
});
