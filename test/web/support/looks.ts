import type { Page } from "playwright-core";
import { expect } from "vitest";
import { keepScreenshot } from "../../support/browser.ts";
import { findAccessFaults } from "./axe.ts";

const DESKTOP = { width: 1_280, height: 860 };
const PHONE = { width: 390, height: 844 };

/** Checks a page for access faults in light and dark, and for its width on a phone, and keeps a screenshot of each. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.evaluate(() => scrollTo(0, 0));
    expect(await findAccessFaults(page), `${name} in ${scheme}`).toEqual([]);
    await keepScreenshot(page, `${name}-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(PHONE);
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  await keepScreenshot(page, `${name}-phone`);
  expect(widths[0], `${name} scrolls sideways on a phone`).toBeLessThanOrEqual(widths[1] as number);
  await page.setViewportSize(DESKTOP);
}
