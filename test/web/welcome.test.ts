import { expect } from "vitest";
import { writeConversation } from "../cli/support/conversation.ts";
import { browserProof, browserTest, keepScreenshot, openPage } from "../support/browser.ts";
import { testFolder } from "../support/folder.ts";
import { ask, startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { findFaultsInThemes } from "./support/axe.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;

browserProof(
  "an empty store opens on the sample, with its windows under all policies and a button to import",
  async () => {
    const gateway = await startGateway(QUIET);
    const { page, problems } = await openPage(`${gateway.url}/`);
    const policies = page.getByRole("table", { name: "Policies on the sample" });
    await policies.waitFor();
    const names = await policies.locator("tbody tr td:first-child").allInnerTexts();
    expect(names).toEqual(["longhaul", "cline", "roo", "openclaw", "anthropic-clear"]);
    await page.getByText("sample", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Import what is found here" }).waitFor();
    await page.locator(".excerpt .markdown strong", { hasText: "50432" }).first().waitFor();
    await page.locator(".chart canvas").waitFor();
    await keepScreenshot(page, "welcome");
    expect(await findFaultsInThemes(page)).toEqual([]);
    expect(problems).toEqual([]);

    // Nothing of the sample is in the store, in the figures or in a recall.
    expect(await gateway.kernel.sessions({ limit: 10 })).toEqual([]);
    const get = async (path: string) =>
      JSON.parse((await ask(gateway, { method: "GET", path: `/api/v1${path}` })).text);
    expect((await get("/usage")).total.requests).toBe(0);
    expect((await get("/recall?q=staging+database+port+50432")).hits).toEqual([]);
  },
);

browserTest(
  "one button imports the histories of local agents, shows its progress, then the conversations",
  async () => {
    const home = testFolder();
    for (const number of [1, 2, 3]) writeConversation(home, number, 4);
    const system = { home, platform: "linux", env: {} } as const;
    const gateway = await startGateway({ ...QUIET, system });
    const { page, problems } = await openPage(`${gateway.url}/`);
    await page.getByText("Found on this computer: claude").waitFor();
    // Everything that the status says, however short.
    await page.evaluate(() => {
      const told: string[] = [];
      const status = document.querySelector('main [role="status"]') as Element;
      new MutationObserver(() => told.push(status.textContent ?? "")).observe(status, {
        ...{ childList: true, characterData: true, subtree: true },
      });
      Object.assign(window, { told });
    });
    await page.getByRole("button", { name: "Import what is found here" }).click();
    const table = page.getByRole("table", { name: "Conversations" });
    await table.waitFor();
    expect(await table.locator("tbody tr").count()).toBe(3);
    const told = await page.evaluate(() => (window as unknown as { told: string[] }).told);
    expect(told.join("\n")).toMatch(/searching|of 3 conversations|indexing/);
    await table.getByRole("link").first().click();
    await page.locator("[data-seq]", { hasText: "answer 3" }).first().waitFor();
    expect(await gateway.kernel.memory.state()).toMatchObject({ unindexed: 0 });
    expect(problems).toEqual([]);
  },
);

proofTest("the sample can be read and replayed, and every other request to it is refused", async () => {
  const gateway = await startGateway(QUIET);
  const send = (method: string, path: string, body?: object) =>
    ask(gateway, { method, path: `/api/v1/sample${path}`, ...(body && { body }) });
  expect((await send("GET", "/sessions/longhaul-sample")).text).toContain("Parcels that arrive twice");
  expect((await send("GET", "/sessions/longhaul-sample/receipts")).text).toContain("over the limit");
  for (const [method, path, body] of [
    ["POST", "/sessions", { id: "x" }],
    ["POST", "/sessions/longhaul-sample/entries", { messages: [] }],
    ["POST", "/sessions/longhaul-sample/forget", {}],
    ["POST", "/imports", {}],
    ["GET", "/imports/places", undefined],
    ["GET", "/recall?q=port", undefined],
    ["GET", "/health", undefined],
    ["GET", "/memories", undefined],
  ] as const)
    expect([path, (await send(method, path, body)).status]).toEqual([path, 403]);
});
