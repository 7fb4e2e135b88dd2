import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserProof, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults, findFaultsInThemes } from "./support/axe.ts";
import { fillStore, STORIES } from "./support/filled-store.ts";

const serveStore = async () =>
  await startGateway({ upstream: "http://127.0.0.1:1", path: await fillStore() });

const toNumber = (text: string | null) => Number(text?.replace(/[^\d.-]/g, "") ?? Number.NaN);

async function readTotal(page: Page, label: string): Promise<number> {
  return toNumber(await page.locator(".figure", { hasText: label }).locator(".figure-value").textContent());
}

browserProof("the overview shows money first, and every sum opens the rows that add up to it", async () => {
  const gateway = await serveStore();
  const { page, problems } = await openPage(`${gateway.url}/`);
  await page.getByRole("table", { name: "Conversations" }).waitFor();
  const spent = await readTotal(page, "Spent");
  expect(spent).toBeGreaterThan(0);
  const saved = page.locator(".figure", { hasText: "Saved by edits" });
  expect(await saved.textContent()).toMatch(/estimated: -?[\d.]+% of \$[\d.]+ without edits/);
  await page.locator(".chart canvas").first().waitFor();
  await keepScreenshot(page, "overview-light");
  expect(await findFaultsInThemes(page)).toEqual([]);

  // The agent's row opens its conversations.
  const row = page.getByRole("table", { name: "Where it went" }).getByRole("row", { name: /claude-code/ });
  const byAgent = toNumber(await row.getByRole("cell").last().textContent());
  await row.getByRole("link").click();
  const table = page.getByRole("table", { name: "Spending" });
  await table.waitFor();
  const costs = await table.locator("tbody tr td:last-child").allInnerTexts();
  expect(costs).toHaveLength(STORIES.filter(({ agent }) => agent === "claude-code").length);
  expect(costs.map(toNumber).reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(byAgent, 1);
  await keepScreenshot(page, "spending");
  expect(await findFaultsInThemes(page)).toEqual([]);

  // All rows together are the sum of the overview.
  await page.goto(`${gateway.url}/spending`);
  await table.waitFor();
  const all = await table.locator("tbody tr td:last-child").allInnerTexts();
  expect(all).toHaveLength(STORIES.length);
  expect(all.map(toNumber).reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(spent, 1);
  expect(problems).toEqual([]);
});

browserProof("a new conversation appears in the overview without a reload", async () => {
  const gateway = await serveStore();
  const { page, problems } = await openPage(`${gateway.url}/`);
  await page.getByRole("table", { name: "Conversations" }).waitFor();
  await using session = await gateway.kernel.session("new-one", { title: "Begun just now" });
  await session.append({ role: "user", text: "Hello" });
  const link = page.getByRole("link", { name: "Begun just now" });
  await link.waitFor();
  const draft = session.draft({ role: "assistant", text: "Being wr" });
  await draft.flush();
  await session.append({ role: "user", text: "Go on" });
  await page
    .getByRole("row", { name: /Begun just now/ })
    .getByText("live")
    .waitFor();
  await draft.discard();
  expect(problems).toEqual([]);
});

browserProof("dark, narrow and Chinese pages are as accessible as the others", async () => {
  const gateway = await serveStore();
  const { page, problems } = await openPage(`${gateway.url}/`, {
    viewport: { width: 390, height: 844 },
    colorScheme: "dark",
    locale: "zh-CN",
  });
  await page.getByRole("heading", { name: "概览" }).waitFor();
  await page.getByRole("table", { name: "对话", exact: true }).waitFor();
  await keepScreenshot(page, "overview-phone-dark-zh");
  expect(await findAccessFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.getByRole("button", { name: "菜单" }).click();
  await page.getByRole("combobox", { name: "主题" }).selectOption("light");
  await page.getByRole("combobox", { name: "语言" }).selectOption("en");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await findAccessFaults(page)).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
  expect(problems).toEqual([]);
});
