import { expect } from "vitest";
import { browserProof, browserTest, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults } from "./support/axe.ts";
import { linkTo, writeLongTalk } from "./support/long-talk.ts";
import { writeSampleTalk } from "./support/sample-talk.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

browserTest(
  "a link opens a conversation at one entry, and one more click leads to the end of the conversation",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeLongTalk(gateway.kernel, { entries: 300 });
    const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}?entry=120`);
    const marked = page.locator('[data-seq="120"]');
    await marked.waitFor();
    expect(await marked.getAttribute("aria-current")).toBe("true");
    await expect.poll(() => marked.isVisible()).toBe(true);
    await page.getByRole("button", { name: /^End/ }).click();
    await page.locator('[data-seq="300"]').waitFor();
    expect(problems).toEqual([]);
  },
);

browserProof(
  "a conversation shows Markdown, folded calls with results, diffs and pictures, in both themes and on a phone",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeSampleTalk(gateway.kernel);
    const url = linkTo(gateway.url, session.id);
    const { page, problems } = await openPage(url);
    await page.getByText("The basin is deepest").waitFor();
    await page.locator(".diff-added").first().waitFor();
    // Only the small copy of the picture is drawn.
    await expect
      .poll(() => page.locator("canvas").evaluate((one) => (one as HTMLCanvasElement).width))
      .toBe(192);
    const call = page.locator("details.tool", { hasText: "npm test" });
    expect(await call.getByText("12 tests passed").count()).toBe(0);
    await call.locator("summary").click();
    await call.getByText("12 tests passed").waitFor();
    expect(await findAccessFaults(page)).toEqual([]);
    await keepScreenshot(page, "conversation-light");
    await page.goto(`${url}?entry=242`);
    await page.locator("code .hljs-keyword").first().waitFor();
    await page.getByRole("cell", { name: "Meridian" }).waitFor();
    await page.goto(`${url}?view=model`);
    await page.getByText("messages in the next call").waitFor();
    expect(await findAccessFaults(page)).toEqual([]);
    await keepScreenshot(page, "conversation-model");
    expect(problems).toEqual([]);
    const dark = await openPage(url, { colorScheme: "dark", locale: "zh-CN" });
    await dark.page.getByText("说过的话").waitFor();
    await dark.page.locator(".diff-added").first().waitFor();
    expect(await findAccessFaults(dark.page)).toEqual([]);
    await keepScreenshot(dark.page, "conversation-dark");
    const phone = await openPage(url, PHONE);
    await phone.page.getByText("The basin is deepest").waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await keepScreenshot(phone.page, "conversation-phone");
  },
);

browserProof(
  "an edit shows what left, why, its price and its break-even, and Undo takes it back",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeSampleTalk(gateway.kernel);
    const held = (await session.overlays.list(100)).find(({ isHolding }) => isHolding);
    const seq = held?.entry.seq ?? 0;
    const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}?entry=${seq}`);
    const edit = page.locator(`.edit[data-seq="${seq}"]`);
    await edit.locator("summary").click();
    for (const name of ["Why", "Messages that left", "This call", "Each later call", "Pays off"])
      await edit.getByText(name, { exact: true }).waitFor();
    await keepScreenshot(page, "conversation-edit");
    const state = edit.locator(".edit-state");
    await state.getByRole("button", { name: "Undo" }).click();
    await state.getByText("no longer in effect").waitFor();
    const listed = await session.overlays.list(100);
    expect(listed.find(({ entry }) => entry.seq === seq)?.isHolding).toBe(false);
    await page.locator(".toasts").getByRole("button", { name: "Redo" }).click();
    await state.getByRole("button", { name: "Undo" }).waitFor();
    expect((await session.overlays.list(100)).find(({ entry }) => entry.seq === seq)?.isHolding).toBe(true);
    expect(problems).toEqual([]);
  },
);

browserProof("drafts appear as they are written, and become messages", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await writeLongTalk(gateway.kernel, { entries: 20 });
  const { page, problems } = await openPage(linkTo(gateway.url, session.id));
  await page.locator('[data-seq="20"]').waitFor();
  const draft = session.draft({ role: "assistant", text: "The tide " });
  await draft.flush();
  await page.locator(".draft", { hasText: "The tide" }).waitFor();
  draft.write("turns at noon.");
  await draft.flush();
  await page.locator(".draft", { hasText: "The tide turns at noon." }).waitFor();
  await draft.finish();
  await page.locator('[data-seq="21"]', { hasText: "The tide turns at noon." }).waitFor();
  await page.locator(".draft").waitFor({ state: "detached" });
  expect(problems).toEqual([]);
});

browserProof(
  "pin, rewind, fork, redact, lines, sub-conversations and export work from the page",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeSampleTalk(gateway.kernel, "codex/actions", 3);
    const { page, problems } = await openPage(linkTo(gateway.url, session.id));
    const { seq: head } = await session.head();
    const choose = async (seq: number, name: RegExp) => {
      const row = page.locator(`[data-seq="${seq}"]`);
      await row.locator(".entry-menu > summary").click();
      await row.getByRole("button", { name }).click();
    };
    await page.locator(`[data-seq="${head}"]`).waitFor();
    await choose(head, /^Pin$/);
    await page.locator(`[data-seq="${head}"]`).getByText("Pinned").waitFor();
    await choose(head - 1, /^Rewind/);
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await page.locator(`[data-seq="${head}"]`).waitFor({ state: "detached" });
    await page.locator(".toasts").getByRole("button", { name: "Undo" }).last().click();
    await page.locator(`[data-seq="${head}"]`).waitFor();
    await choose(head, /^Redact/);
    await page.getByRole("dialog").getByText("The basin is deepest").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Erase for ever" }).click();
    await page.getByText("Redacted", { exact: true }).waitFor();
    expect((await session.entry(head))?.kind).toBe("redacted");
    await page.getByRole("button", { name: "Sub-conversations" }).click();
    await page.getByRole("link", { name: "Look up the tide tables" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "To do" }).click();
    await page.getByText("The agent has no to-do list here").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Lines" }).click();
    await page.getByText("The first line").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Export" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save" }).first().click();
    expect((await saved).suggestedFilename()).toMatch(/\.md$/);
    await choose(head - 1, /^Fork/);
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await page.getByRole("link", { name: /^Fork of/ }).waitFor();
    expect(page.url()).toContain("fork-");
    expect(problems).toEqual([]);
  },
);

browserProof(
  "keys move through the messages and to the other views, and a missing entry says what to do",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeLongTalk(gateway.kernel, { entries: 60 });
    const url = linkTo(gateway.url, session.id);
    const { page } = await openPage(url);
    await page.locator('[data-seq="60"]').waitFor();
    const focused = () =>
      page.evaluate(() =>
        Number((document.activeElement?.closest("[data-seq]") as HTMLElement)?.dataset.seq),
      );
    await page.keyboard.press("j");
    const first = await focused();
    await page.keyboard.press("j");
    expect(await focused()).toBe(first + 1);
    await page.keyboard.press("k");
    expect(await focused()).toBe(first);
    await page.keyboard.press("m");
    await page.getByText("messages in the next call").waitFor();
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "The next call" }).waitFor();
    await session.rewind(40);
    await page.goto(`${url}?entry=50`);
    await page.getByRole("button", { name: "Open it in the whole log" }).click();
    await page.locator('[data-seq="50"]').waitFor();
    await page.goto(linkTo(gateway.url, "none"));
    await page.getByRole("alert").getByText("What to do").waitFor();
    await using empty = await gateway.kernel.session("empty", { title: "Nothing" });
    await page.goto(linkTo(gateway.url, empty.id));
    await page.getByText("Nothing has been said yet").waitFor();
  },
);

browserTest(
  "the to-do list follows the active line, and the end of a request says who ended it",
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await gateway.kernel.session("codex/todos");
    const write = (content: string) => {
      const input = { todos: [{ content, status: "in_progress" }] };
      return session.append({
        role: "assistant",
        parts: [{ type: "tool-call", callId: content, name: "TodoWrite", input }],
      });
    };
    const { seq } = await write("Draw the map");
    await write("Paint the lighthouse");
    await session.note("request ended by the provider: Overloaded (after 2 retries)", {
      requestEnd: { by: "provider", failure: "Overloaded", retries: 2 },
    });
    const { page, problems } = await openPage(linkTo(gateway.url, session.id));
    await page.getByText("Request ended by the provider · Overloaded · sent again before: 2").waitFor();
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "To do" }).click();
    await dialog.getByRole("link", { name: "Paint the lighthouse" }).waitFor();
    expect(await findAccessFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await session.rewind(seq);
    await page.getByRole("button", { name: "To do" }).click();
    await dialog.getByRole("link", { name: "Draw the map" }).click();
    await page.locator(`[data-seq="${seq}"][aria-current="true"]`).waitFor();
    expect(problems).toEqual([]);
  },
);
