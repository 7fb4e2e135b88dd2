import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { writeConversation } from "../../cli/support/conversation.ts";
import { testFolder } from "../../support/folder.ts";
import { startGateway, type TestGateway } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { type ApiAnswer, ApiClient } from "./support/api-client.ts";

async function openHistories(
  conversations: number,
  turns: number,
): Promise<{ readonly gateway: TestGateway; readonly api: ApiClient }> {
  const home = testFolder();
  for (let number = 1; number <= conversations; number++) writeConversation(home, number, turns);
  const system = { home, platform: "linux", env: {} } as const;
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9", system });
  return { gateway, api: await ApiClient.open(gateway) };
}

async function awaitEnd(api: ApiClient, started: ApiAnswer): Promise<ApiAnswer["body"]> {
  for (;;) {
    const { body } = await api.get(`/jobs/${started.body.id}`);
    if (body.state !== "running") return body;
    await sleep(5);
  }
}

describe("an import", () => {
  test("an import is a job that can be followed and listed, and two imports share one job", async () => {
    // Long enough to be running still when the second request arrives.
    const { api } = await openHistories(20, 100);
    expect((await api.post("/imports", { formats: ["clod"] })).body.error.message).toContain("claude-code");
    const events = api.follow("/events", 2);
    const [started, other] = await Promise.all([api.post("/imports"), api.post("/imports")]);
    expect(started).toMatchObject({ status: 202, body: { type: "import", state: "running" } });
    expect(other.body.id).toBe(started.body.id);
    expect(await awaitEnd(api, started)).toMatchObject({
      state: "done",
      import: { stage: "done", problems: 0, totals: { added: { messages: 4_000 } } },
    });
    expect((await api.get("/sessions?agent=claude")).body.sessions).toHaveLength(20);
    expect((await events).every(({ event }) => event === "job" || event === "session")).toBe(true);
    expect(api.answered).toContain("startImport");
    const again = await awaitEnd(api, await api.post("/imports"));
    expect(again.import.totals.added.messages).toBe(0);
  });

  test("an import indexes the imported entries, and health counts the entries that are not indexed", async () => {
    const { gateway, api } = await openHistories(3, 20);
    await using own = await gateway.kernel.session("own");
    await own.append({ role: "user", text: "Not indexed yet." });
    expect((await api.get("/health")).body.index).toMatchObject({ entries: 1, unindexed: 1 });
    await awaitEnd(api, await api.post("/imports"));
    expect((await api.get("/health")).body.index).toMatchObject({ unindexed: 0 });
  });

  test("an import accepts no path from a caller, and reads only the requested formats", async () => {
    const { api } = await openHistories(1, 1);
    const home = testFolder();
    for (const field of ["path", "paths", "home"])
      expect((await api.post("/imports", { [field]: home })).status).toBe(400);
    const other = await awaitEnd(api, await api.post("/imports", { formats: ["codex"] }));
    expect(other.import.totals.sources).toBe(0);
    expect((await api.get("/sessions")).body.sessions).toEqual([]);
  });

  proofTest("a stopped import keeps its conversations, and a later import adds the rest", async () => {
    const { api } = await openHistories(20, 50);
    const started = await api.post("/imports");
    const stopped = await api.ask("DELETE", `/jobs/${started.body.id}`);
    expect(["stopped", "done"]).toContain(stopped.body.state);
    await awaitEnd(api, await api.post("/imports"));
    expect((await api.get("/sessions?limit=200")).body.sessions).toHaveLength(20);
  });
});
