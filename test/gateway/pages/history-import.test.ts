import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { writeConversation } from "../../cli/support/conversation.ts";
import { testFolder } from "../../support/folder.ts";
import { type Served, servePages } from "./support/served.ts";

async function ended({ json }: Served) {
  for (;;) {
    const { body } = await json("/api/import");
    if (body.state !== "running" && body.state !== "indexing") return body;
    await setTimeout(10);
  }
}

async function withHistories(conversations: number, turns: number): Promise<Served> {
  const home = testFolder();
  for (let number = 1; number <= conversations; number++) writeConversation(home, number, turns);
  return servePages({ system: { home, platform: "linux", env: {} } });
}

describe("/api/import", () => {
  test("brings in what agents left, once however often it is asked", async () => {
    const served = await withHistories(2, 3);
    expect((await served.json("/api/import")).body).toEqual({ state: "idle" });
    const started = await served.json("/api/import", { method: "POST" });
    expect(started).toMatchObject({ status: 202, body: { state: "running" } });
    expect((await served.json("/api/import", { method: "POST" })).status).toBe(202);
    const state = await ended(served);
    expect(state).toMatchObject({ state: "done", problems: 0, totals: { added: { messages: 12 } } });
    expect((await served.json("/api/sessions")).body.sessions).toHaveLength(2);
    await served.json("/api/import", { method: "POST" });
    expect((await ended(served)).totals.added.messages).toBe(0);
  });

  test("indexes what it brought in, and the status shows how far the index is", async () => {
    const served = await withHistories(3, 20);
    const { kernel } = served;
    await (await kernel.session("own")).append({ role: "user", text: "Not indexed yet." });
    const first = (await served.json("/api/status")).body.index;
    expect(first).toMatchObject({ entries: 1, unindexed: 1 });
    await served.json("/api/import", { method: "POST" });
    const seen = new Set<string>();
    for (let body = { state: "running" }; body.state !== "done"; await setTimeout(1)) {
      body = (await served.json("/api/import")).body;
      seen.add(body.state);
    }
    expect(seen).toContain("indexing");
    expect(await kernel.memory.state()).toMatchObject({ unindexed: 0 });
    const reader = await served.json("/api/status", { headers: { "x-reader": "private/" } });
    expect(reader.body.index).toBeUndefined();
  });

  test("reads no path that a caller names", async () => {
    const home = testFolder();
    writeConversation(home, 1, 1);
    const served = await servePages();
    const body = JSON.stringify({ paths: [home], path: home });
    await served.json(`/api/import?path=${home}`, { method: "POST", body });
    expect((await ended(served)).totals.sources).toBe(0);
    expect((await served.json("/api/sessions")).body.sessions).toEqual([]);
  });

  test("takes only the formats that are named, and refuses others", async () => {
    const served = await withHistories(1, 1);
    await served.json("/api/import?format=codex", { method: "POST" });
    expect((await ended(served)).totals.sources).toBe(0);
    const wrong = await served.json("/api/import?format=clod", { method: "POST" });
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: "ARGUMENT_INVALID" } } });
  });

  test("can be stopped, and keeps what it has", async () => {
    const served = await withHistories(20, 50);
    await served.json("/api/import", { method: "POST" });
    const { body } = await served.json("/api/import", { method: "DELETE" });
    expect(["stopped", "done"]).toContain(body.state);
    await served.json("/api/import", { method: "POST" });
    await ended(served);
    expect((await served.json("/api/sessions?limit=200")).body.sessions).toHaveLength(20);
  });
});
