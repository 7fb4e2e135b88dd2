import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical findings of axe on a page, one line each. The page's policy does not block the script. */
export async function findAccessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(source);
  const { violations } = await page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ["violations"],
    });
    return { violations: found.violations };
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
    );
}

/** Findings in the light and in the dark theme. */
export async function findFaultsInThemes(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
    faults.push(...(await findAccessFaults(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}
