import { expect } from "vitest";
import { browserProof, keepScreenshot, openPage } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { checkLooks } from "./support/looks.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;

const TALK = [
  ["user", "Which port does the staging server use?"],
  ["assistant", "The staging server listens on port 7781, behind the proxy on host db-3."],
  ["user", "And why were people logged out last week?"],
  ["assistant", "The session cookie expired because the clock of the staging host was three hours late."],
] as const;

async function tellStory({ kernel }: TestGateway): Promise<void> {
  const told = [
    ["local/claude-code/4711", "Staging after the move"],
    ["local/claude-code/4712", "Cookies and clocks"],
  ] as const;
  for (const [id, title] of told) {
    const session = await kernel.session(id, { title, meta: { cwd: "/srv/harbor" } });
    for (const [role, text] of TALK)
      await session.append({ role, text: id.endsWith("2") ? `Again: ${text}` : text });
    await session.close();
  }
  await kernel.memory.catchUp();
}

browserProof("recall shows the place of each hit and explains its score", async () => {
  const gateway = await startGateway(QUIET);
  await tellStory(gateway);
  const { page, problems } = await openPage(`${gateway.url}/memory`);
  await page.getByRole("heading", { name: "Ask memory a question" }).waitFor();
  await page.getByRole("searchbox", { name: "Question" }).fill("which port does the staging server use?");
  await page.keyboard.press("Enter");
  const hits = page.getByRole("region", { name: "Hits" });
  await hits.getByText("port 7781").first().waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toContain("staging server");
  await hits.locator("mark").first().waitFor();

  const first = hits.locator(".hit").first();
  await first.locator("summary").first().click();
  const rows = await first.locator(".score-table tbody tr").allTextContents();
  expect(rows.some((row) => /^words words of the question/.test(row))).toBe(true);
  const numbers = await first.locator(".score-table tbody td.number").allTextContents();
  const [sum = ""] = await first.locator(".score-table tfoot td.number").allTextContents();
  const total = numbers.reduce((all, text) => all + Number(text.replace("−", "-")), 0);
  expect(Math.abs(total - Number(sum))).toBeLessThan(0.1);
  // Without an embedder there is no similarity, and the page does not invent one.
  await first.getByText("n/a").waitFor();

  await first.getByRole("button", { name: "Show around" }).click();
  await first.locator(".surroundings li").nth(1).waitFor();
  expect(await first.locator(".hit-origin a").getAttribute("href")).toMatch(
    /^\/sessions\/local%2Fclaude-code%2F471\d\?entry=\d+$/,
  );
  await checkLooks(page, "memory-recall");
  await page.reload();
  await hits.getByText("port 7781").first().waitFor();
  expect(problems).toEqual([]);
});

browserProof("memories are added, edited, ordered, dated, judged and forgotten after a preview", async () => {
  const gateway = await startGateway(QUIET);
  const memories = gateway.kernel.memories("default");
  for (const text of ["The pier is closed on Mondays.", "Refunds above 500 euros need a second signature."])
    await memories.remember(text, { by: "user" });
  await memories.remember("The staging database is db-3.", { by: "agent" });
  await memories.remember("the staging database is DB-3", { by: "agent", until: Date.parse("2026-01-01") });
  const { page, problems } = await openPage(`${gateway.url}/memory/memories`);
  const rows = page.locator(".memory");
  await rows.nth(2).waitFor();

  await page.getByRole("button", { name: "Add a memory" }).click();
  await page.getByLabel("Text").fill("Deploys are frozen in **December**.");
  await page.getByLabel("Holds until (optional)").fill("2099-01-01T00:00");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("holds until Jan 1, 2099").waitFor();
  expect(await rows.first().textContent()).toContain("Deploys are frozen");

  await rows.first().getByRole("button", { name: "Move down" }).click();
  await rows.first().getByText("The staging database is db-3.").waitFor();
  expect((await memories.list())[1]?.text).toContain("Deploys are frozen");
  await rows.nth(3).getByRole("button", { name: "To the top" }).click();
  await rows.first().getByText("The pier is closed").waitFor();

  await rows.first().getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Text").fill("The pier is closed on Sundays.");
  await page.getByRole("button", { name: "Save" }).click();
  await rows.first().getByText("Sundays").waitFor();
  await rows.filter({ hasText: "db-3" }).getByRole("button", { name: "Accept" }).click();
  await rows.filter({ hasText: "db-3" }).getByText("person (agent)").waitFor();
  await checkLooks(page, "memory-memories");

  await page.getByLabel("Validity").selectOption("ever");
  await page.getByText("held until Jan 1, 2026").waitFor();
  await rows.filter({ hasText: "database is db-3" }).first().getByRole("button", { name: "Forget" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("These 2 memories").waitFor();
  await dialog.getByText("the staging database is DB-3", { exact: true }).waitFor();
  await keepScreenshot(page, "memory-forget-light");
  await dialog.getByRole("button", { name: "Forget for good" }).click();
  await rows.filter({ hasText: /db-3/i }).first().waitFor({ state: "detached" });
  expect((await memories.list({ validAt: "ever" })).map(({ text }) => text).join()).not.toMatch(/db-3/i);
  await page.getByText("History of changes").click();
  await page.getByRole("cell", { name: "Forgotten" }).first().waitFor();
  expect(problems).toEqual([]);
});

browserProof("the review list shows the notes of all agents, and keys judge them", async () => {
  const gateway = await startGateway(QUIET);
  const notes = gateway.kernel.memories("claude-code");
  await notes.remember("The build needs Node 24.", { by: "agent", source: "local/claude-code/4711" });
  await gateway.kernel.memories("codex").remember("Tests run with two workers.", { by: "agent" });
  await gateway.kernel.memories("codex").remember("The page said: trust me.", { by: "quoted" });
  const { page, problems } = await openPage(`${gateway.url}/memory/review`);
  const rows = page.locator(".memory");
  await rows.nth(2).waitFor();
  await page.getByRole("link", { name: "Review 3" }).waitFor();
  await checkLooks(page, "memory-review");
  await rows.filter({ hasText: "Node 24" }).getByRole("button", { name: "Accept" }).click();
  await rows.filter({ hasText: "Node 24" }).waitFor({ state: "detached" });
  expect((await notes.list())[0]?.trust).toBe("user");
  const current = page.locator(".memory[aria-current]");
  await page.keyboard.press("j");
  await rows.nth(1).and(current).waitFor();
  const judged = (await page.locator(".memory[aria-current] .markdown").textContent())?.trim() ?? "";
  await page.keyboard.press("x");
  await rows.filter({ hasText: judged }).waitFor({ state: "detached" });
  const rejected = await gateway.kernel.memories("codex").list({ trust: "rejected" });
  expect(rejected.find(({ text }) => text === judged)?.trust).toBe("rejected");
  await current.waitFor();
  await page.keyboard.press("a");
  await page.getByText("Nothing waits for review").waitFor();
  expect(problems).toEqual([]);
});

browserProof("the index page shows its gaps, fills them on request, and removes a session", async () => {
  const gateway = await startGateway(QUIET);
  await tellStory(gateway);
  await using late = await gateway.kernel.session("late");
  await late.append({ role: "user", text: "One more thing about the harbor." });
  const { page, problems } = await openPage(`${gateway.url}/memory/sources`);
  // The share opens the rows behind it.
  await page.getByRole("link", { name: "1 of 9 entries missing" }).click();
  const missing = page.getByRole("table", { name: "Not searchable yet" });
  await missing.getByRole("link", { name: "late" }).waitFor();
  expect(await missing.locator("tbody tr").count()).toBe(1);
  await page.getByRole("button", { name: "Index now" }).click();
  await page.getByText("0 of 9 entries missing").waitFor();
  await page.getByText("Everything is searchable").waitFor();
  await page.getByRole("button", { name: "All" }).click();
  await page.getByRole("link", { name: "late" }).waitFor();
  await checkLooks(page, "memory-sources");
  await page.getByRole("button", { name: "Forget local/claude-code/4711" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("4 entries, their large contents").waitFor();
  await dialog.getByRole("button", { name: "Forget for good" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "local/claude-code/4711" }).waitFor({ state: "detached" });
  expect(await gateway.kernel.find("local/claude-code/4711")).toBeUndefined();
  await page.getByRole("button", { name: "Files" }).click();
  await page.getByText("longhaul index").waitFor();
  expect(problems).toEqual([]);
});
