import { expect } from "vitest";
import { browserTest, keepScreenshot, openPage } from "../support/browser.ts";
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
