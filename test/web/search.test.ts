import { expect } from "vitest";
import { browserProof, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findFaultsInThemes } from "./support/axe.ts";
import { fillStore } from "./support/filled-store.ts";

browserProof(
  "the search finds words of every conversation, and a hit opens at its entry and offers the agent's command",
  async () => {
    const gateway = await startGateway({
      upstream: "http://127.0.0.1:1",
      path: await fillStore(),
    });
    const { page, problems } = await openPage(`${gateway.url}/`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("which port has the harbor gate");
    await page.keyboard.press("Enter");
    const hit = page.locator(".hit").first();
    // Words are marked once the Markdown renderer is loaded; until then the hit shows its plain text.
    await hit.locator("mark").first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/search");
    expect(await hit.locator("mark").allInnerTexts()).toContain("port");
    const href = await hit.locator(".hit-head a").getAttribute("href");
    expect(href).toMatch(/^\/sessions\/claude-code%2F[\w-]+\?entry=\d+$/);
    expect(await hit.locator(".hit-resume button").textContent()).toBe("Copy command to continue");
    // One card for each conversation, with its best hit first.
    const links = await page
      .locator(".hit-head a")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    const sources = links.map((link) => link?.split("?")[0]);
    expect(new Set(sources).size).toBe(sources.length);
    const seq = Number(/entry=(\d+)/.exec(href ?? "")?.[1]);
    const id = decodeURIComponent(/sessions\/([^?]+)/.exec(href ?? "")?.[1] ?? "");
    const entry = await (await gateway.kernel.session(id)).entry(seq);
    expect(JSON.stringify(entry)).toContain("harbor");
    await keepScreenshot(page, "search");
    expect(await findFaultsInThemes(page)).toEqual([]);

    // A link narrows the search; the address can be opened again.
    await hit.locator(".facts a", { hasText: "harbor" }).click();
    await page.locator(".filters button").waitFor();
    await page.reload();
    await page.locator(".hit").first().waitFor();
    expect(await page.locator(".facts").allInnerTexts()).toSatisfy((facts: string[]) =>
      facts.every((one) => one.includes("harbor")),
    );
    expect(problems).toEqual([]);
  },
);
