import { expect } from "vitest";
import { browserProof, browserTest, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults } from "./support/axe.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;

browserTest(
  "the dashboard opens at / without an error, a violation of its policy or a foreign request",
  async () => {
    const gateway = await startGateway(QUIET);
    const { page, problems } = await openPage(`${gateway.url}/`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await keepScreenshot(page, "shell-light");
    expect(await findAccessFaults(page)).toEqual([]);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    expect(await page.evaluate(() => document.activeElement?.matches("[data-search]"))).toBe(true);
    expect(problems).toEqual([]);
  },
);

browserProof("warnings of the monitor and a lost gateway show everywhere until dismissed", async () => {
  const gateway = await startGateway(QUIET);
  const notice = {
    at: Date.now(),
    type: "warning",
    text: "The heap has 512 MB, above the warning of 500 MB.",
  };
  const { page } = await openPage(`${gateway.url}/search`);
  await page.route("**/api/v1/health", async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ json: { ...(await reply.json()), notices: [notice] } });
  });
  await page.reload();
  const strip = page.locator(".warnings");
  await strip.getByText(notice.text).waitFor();
  await keepScreenshot(page, "warnings");
  await page.getByRole("link", { name: "Overview" }).click();
  await strip.getByText(notice.text).waitFor();
  expect(await findAccessFaults(page)).toEqual([]);
  await strip.getByRole("button", { name: "Dismiss" }).click();
  await strip.waitFor({ state: "detached" });
  await page.unrouteAll();
  await gateway.close();
  await strip.getByText("does not respond").waitFor();
});

browserProof("an address without a page shows an error with a link back", async () => {
  const gateway = await startGateway(QUIET);
  const { page, problems } = await openPage(`${gateway.url}/nowhere/at/all`);
  await page.getByRole("heading", { name: "There is no page here" }).waitFor();
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
  expect(problems).toEqual([]);
});
