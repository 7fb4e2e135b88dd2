import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Api } from "../../src/api/index.ts";
import { HistoryImport, ReplayRunner } from "../../src/api/jobs/index.ts";
import { NO_SAVINGS } from "../../src/window-entry.ts";
import { writeConversation } from "../cli/support/conversation.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";
import { ApiClient } from "./support/api-client.ts";

const FACTS = {
  version: "1.2.3",
  startedAt: 1,
  isOpen: true,
  inFlight: 0,
  totals: { requests: 0, failures: 0, edits: 0, healed: 0, savings: NO_SAVINGS },
  memory: { notices: [] },
};

test("an import is a job: it is followed, listed and stopped, and runs once at a time", async () => {
  const home = testFolder();
  for (const number of [1, 2]) writeConversation(home, number, 3);
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const imports = new HistoryImport(kernel, { home, platform: "linux", env: {} });
  const onError = (error: unknown) => expect.fail(String(error));
  const api = new Api({
    kernel,
    server: () => FACTS,
    imports,
    replayRunner: new ReplayRunner(kernel),
    onError,
  });
  const caller = { id: "local", prefixes: undefined, memoryAgent: "default", isOnLoopback: true };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/openapi.json") return api.sendDocument(response);
    const left = new AbortController();
    response.once("close", () => left.abort());
    const path = pathname.slice("/api/v1".length);
    const body = Buffer.concat(chunks);
    await api.handle({ request, response, caller, path, query: search, body, signal: left.signal });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await api.close();
    await imports.close();
    server.closeAllConnections();
    server.close();
  });
  const client = await ApiClient.open({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

  expect((await client.post("/imports", { formats: ["clod"] })).body.error.message).toContain("claude-code");
  const events = client.follow("/events", 2);
  await sleep(50);
  const started = await client.post("/imports");
  expect(started).toMatchObject({ status: 202, body: { type: "import", state: "running" } });
  expect((await client.post("/imports")).body.id).toBe(started.body.id);
  const path = `/jobs/${started.body.id}`;
  while ((await client.get(path)).body.state === "running") await sleep(10);
  expect((await client.ask("DELETE", path)).body).toMatchObject({
    state: "done",
    import: { stage: "done", problems: 0, totals: { added: { messages: 12 } } },
  });
  expect((await client.get("/sessions?agent=claude")).body.sessions).toHaveLength(2);
  expect((await events).every(({ event }) => event === "job" || event === "session")).toBe(true);
  expect(client.answered).toContain("startImport");
});
