import { expect } from "vitest";
import { browserProof, browserTest, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults } from "./support/axe.ts";
import { linkTo, writeLongTalk } from "./support/long-talk.ts";
import { writeSampleTalk } from "./support/sample-talk.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

browserProof("the window page shows parts, cost and history, and every edit with its receipt", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await writeSampleTalk(gateway.kernel);
  const url = `${linkTo(gateway.url, session.id)}/window`;
  const { page, problems } = await openPage(url);
  const parts = page.locator(".parts-list li");
  await parts.first().waitFor();
  expect(await parts.locator("span:not(.number)").allTextContents()).toEqual([
    "System",
    "Tools",
    "Pins",
    "Memories",
    "Summaries",
    "Recalled",
    "History",
    "Reserved",
    "Free",
  ]);
  await page.getByRole("link", { name: /Cost/ }).click();
  const requests = page.getByRole("table", { name: "Requests" });
  await requests.waitFor();
  expect(await requests.locator("tbody tr").count()).toBe(40);
  await page.getByRole("button", { name: "Hide" }).click();
  const chart = page.locator(".chart .u-over");
  await chart.waitFor();
  const box = await chart.boundingBox();
  await chart.hover({ position: { x: (box?.width ?? 0) - 2, y: 60 } });
  await page.locator(".readout").getByText("Pays off").waitFor();
  expect(await findAccessFaults(page)).toEqual([]);
  await keepScreenshot(page, "window-light");
  await page.keyboard.press("[");
  const card = page.locator(".edit-card");
  await card.getByText("Names no longer in the window").waitFor();
  await card.getByRole("button", { name: "Undo" }).click();
  await card.getByText("no longer in effect").waitFor();
  expect((await session.overlays.list(1))[0]?.entry.edit.type).toBe("revert");
  expect(problems).toEqual([]);
  const dark = await openPage(url, { colorScheme: "dark", locale: "zh-CN" });
  await dark.page.locator(".chart canvas").waitFor();
  expect(await findAccessFaults(dark.page)).toEqual([]);
  await keepScreenshot(dark.page, "window-dark");
  const phone = await openPage(url, PHONE);
  await phone.page.locator(".chart canvas").waitFor();
  expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await keepScreenshot(phone.page, "window-phone");
});

browserProof("content that an undo brought back is shown as held, and Release lets it go", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await writeSampleTalk(gateway.kernel, "codex/held", 40);
  const edit = await session.overlays.findLastEdit();
  await session.overlays.revert(edit?.entry.seq as number);
  const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}/window`);
  const card = page.locator(".held-card");
  await card.getByText(/\d+ messages, [\d,]+ tokens, came back with #\d+\. They stay until/).waitFor();
  expect(await findAccessFaults(page)).toEqual([]);
  await keepScreenshot(page, "window-held");
  await card.getByRole("button", { name: "Release" }).click();
  await page.getByText("The edit is taken back").waitFor();
  await card.waitFor({ state: "detached" });
  expect((await session.window({ model: "claude-sonnet-4-5" }).look()).held).toBeUndefined();
  expect(problems).toEqual([]);
});

browserProof("another policy is tried by a replay, which draws both curves", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await writeSampleTalk(gateway.kernel, "codex/policies", 20);
  const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}/window`);
  await page.getByLabel("Window in tokens").fill("12000");
  await page.getByRole("button", { name: "Replay" }).click();
  await page.locator(".scores tbody tr").first().waitFor();
  expect(await page.locator(".chart canvas").count()).toBe(2);
  await page.getByLabel("Second policy").selectOption("roo");
  await page.getByRole("img", { name: "under longhaul and under roo" }).waitFor();
  expect(await page.locator(".scores tbody tr").count()).toBeGreaterThan(3);
  await keepScreenshot(page, "window-policies");
  expect(problems).toEqual([]);
});

browserProof(
  "a summary is shown with its diff and its losses before it is applied, and Undo takes it back",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeSampleTalk(gateway.kernel, "codex/summary", 12);
    const { seq: before } = await session.head();
    const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}/window`);
    await page.getByRole("button", { name: "Preview" }).click();
    const preview = page.locator(".preview");
    await preview.getByText("What would be lost").waitFor();
    await preview.locator(".change-leaves summary").first().click();
    await preview.locator(".diff-removed").first().waitFor();
    expect((await session.head()).seq).toBe(before);
    await keepScreenshot(page, "window-summary");
    await preview.getByRole("button", { name: "Apply" }).click();
    await page.getByText("The summary is in effect.").waitFor();
    const [newest] = await session.overlays.list(1);
    expect(newest).toMatchObject({ isHolding: true, entry: { edit: { type: "summarize" } } });
    await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
    await page.getByText("The edit is taken back").waitFor();
    expect((await session.overlays.list(1))[0]?.entry.edit.type).toBe("revert");
    expect(problems).toEqual([]);
  },
);

browserProof("a conversation without reported usage says n/a and what to do, not zero", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await writeLongTalk(gateway.kernel, { entries: 4 });
  const { page } = await openPage(`${linkTo(gateway.url, session.id)}/window`);
  await page.getByText("No request has been reported yet").waitFor();
  await page.getByText("no usage has been reported").waitFor();
  const cost = page.locator(".figure", { hasText: "Cost" }).locator(".figure-value");
  expect(await cost.textContent()).toBe("n/a");
});

browserTest(
  "the advice to begin a new conversation comes with the text that would be carried over",
  async () => {
    const gateway = await startGateway({ ...QUIET, config: { models: { m: { window: 8_000 } } } });
    await using session = await gateway.kernel.session("codex/full");
    const text = `Plan the harbor of Meridian. ${"alpha beta gamma delta ".repeat(1_650)}`;
    const { id } = await session.append({ role: "user", text });
    await session.pin(id);
    await session.append({ role: "assistant", text: "Done.", model: "m" });
    await session.append({ role: "user", text: "And now?" });
    const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}/window`);
    const card = page.locator(".advice-card");
    await card.getByText(/^7\d% of the window can never leave it/).waitFor();
    await card.getByText("What would be carried over").click();
    await card.getByText("Plan the harbor of Meridian.").waitFor();
    expect(await findAccessFaults(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);
