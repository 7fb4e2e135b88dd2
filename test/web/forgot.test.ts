import { expect } from "vitest";
import { readPinnedEntries } from "../../src/kernel/calls/read-pinned-entries.ts";
import { browserProof, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { fillStore, STORIES } from "./support/filled-store.ts";
import { checkLooks } from "./support/looks.ts";

browserProof("words that left the window are found, explained and put back for good", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:1", path: await fillStore() });
  // The longest conversation has a small window, so its first results have left.
  const id = STORIES[2]?.id ?? "";
  const { page, problems } = await openPage(`${gateway.url}/forgot?session=${encodeURIComponent(id)}`);
  await page.getByRole("textbox", { name: "Words from the conversation" }).fill("1.7 ferry 49 leaves pier 7");
  await page.getByRole("button", { name: "Find them" }).click();
  const out = page.locator(".forgotten li").filter({ hasText: /not in the window any more|shortened form/ });
  await out.first().waitFor();
  await out
    .first()
    .getByText(/It went out/)
    .waitFor();
  await checkLooks(page, "forgot");
  const link = await out.first().locator(".forgotten-head a").getAttribute("href");
  const seq = Number(/entry=(\d+)/.exec(link ?? "")?.[1]);
  await out.first().getByRole("button", { name: "Put it back for good" }).click();
  await page.getByText("Pinned: it stays in the window for good.").first().waitFor();
  await using session = await gateway.kernel.session(id);
  expect((await readPinnedEntries(session)).map((entry) => entry.seq)).toContain(seq);
  expect(problems).toEqual([]);
});
