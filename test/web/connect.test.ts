import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { localAgentsOf } from "../server/api/support/local-agents-of.ts";
import { browserProof, keepScreenshot, openPage } from "../support/browser.ts";
import { testFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults } from "./support/axe.ts";
import { checkLooks } from "./support/looks.ts";

const SETTINGS =
  '{\n  "model": "opus",\n  "env": { "ANTHROPIC_API_KEY": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789" }\n}\n';

browserProof(
  "the connect page connects an agent after showing the diff, and disconnects it to the same bytes",
  async () => {
    const home = testFolder();
    mkdirSync(join(home, ".claude"));
    const path = join(home, ".claude", "settings.json");
    writeFileSync(path, SETTINGS);
    const gateway = await startGateway({
      upstream: "http://127.0.0.1:1",
      agents: localAgentsOf(home),
    });
    const { page, problems } = await openPage(`${gateway.url}/connect`);
    const card = page.locator(".agent").filter({ hasText: "Claude Code" });
    await card.getByText("not connected").first().waitFor();
    await checkLooks(page, "connect");

    await card.getByRole("button", { name: /^Connect Claude Code: Gateway/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".line-added", { hasText: gateway.url }).waitFor();
    expect(await dialog.textContent()).not.toContain("abcdefghijklmnopqrstuvwxyz");
    expect(readFileSync(path, "utf8")).toBe(SETTINGS);
    expect(await findAccessFaults(page)).toEqual([]);
    await keepScreenshot(page, "connect-diff-light");
    // The preview has its own URL, so it survives a reload.
    await page.reload();
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await card.getByText("connected", { exact: true }).waitFor();
    expect(readFileSync(path, "utf8")).toContain(gateway.url);

    await card.getByRole("button", { name: /^Disconnect Claude Code: Gateway/ }).click();
    await dialog.locator(".line-removed", { hasText: gateway.url }).waitFor();
    await dialog.getByRole("button", { name: "Disconnect", exact: true }).click();
    await card.getByText("not connected").first().waitFor();
    expect(readFileSync(path, "utf8")).toBe(SETTINGS);
    await page.getByLabel("Language").selectOption("zh");
    await page.getByRole("heading", { level: 1, name: "连接" }).waitFor();
    await keepScreenshot(page, "connect-zh");
    expect(problems).toEqual([]);
  },
);
