import { expect } from "vitest";
import { browserProof, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { checkLooks } from "./support/looks.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const MEGABYTE = 1_000_000;

browserProof("health shows all measures as curves, limits, warnings and reliefs", async () => {
  const monitor = { intervalMs: 3_600_000, warningBytes: 100 * MEGABYTE, criticalBytes: 3_000 * MEGABYTE };
  const gateway = await startGateway({ ...QUIET, monitor });
  const { kernel } = gateway;
  await using session = await kernel.session("talk");
  for (let round = 0; round < 30; round++) {
    await session.append({ role: "user", text: `Round ${round}. `.repeat(500) });
    await kernel.monitor.check();
  }
  const { page, problems } = await openPage(`${gateway.url}/health`);
  for (const id of ["memory", "caches", "event-loop", "busy", "journal", "disk", "handles"])
    await page.locator(`#${id} canvas`).waitFor();
  const chart = await page.locator("#memory .chart").getAttribute("aria-label");
  expect(chart).toMatch(
    /^Memory: In use [\d.]+ [MG]B, Heap [\d.]+ [MG]B, Resident \(RSS\) [\d.]+ [MG]B, Warning 100 MB/,
  );
  await page.getByText("Memory gets short").waitFor();
  // A slope over seconds would be a guess.
  await page.locator("#growth").getByText("known after ten minutes").waitFor();
  await page.locator(".monitor-notes").getByText("warning", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Relieve now" }).click();
  await page.getByRole("dialog").getByText("Nothing is lost").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Relieve now" }).click();
  await page.locator(".monitor-notes").getByText("relief", { exact: true }).first().waitFor();
  await page.getByText("What it freed").first().click();
  await page.locator("#notes").getByRole("rowheader", { name: "Write-ahead log" }).waitFor();
  await page.getByText(/The last \d+ measurements as a table/).click();
  await expect.poll(() => page.locator("details table tbody tr").count()).toBeGreaterThan(29);
  await page.getByText(/The last \d+ measurements as a table/).click();
  await checkLooks(page, "health");
  expect(problems).toEqual([]);
});

browserProof("a warning reaches a page that is already open, and links to health", async () => {
  // Other tests in this process may have left much on the heap.
  const { heapUsed, external } = process.memoryUsage();
  const warningBytes = heapUsed + external + 300 * MEGABYTE;
  const monitor = { intervalMs: 3_600_000, warningBytes, criticalBytes: warningBytes + 2_000 * MEGABYTE };
  const gateway = await startGateway({ ...QUIET, monitor });
  const { page, problems } = await openPage(`${gateway.url}/connect`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const calm = await gateway.kernel.monitor.check();
  expect(calm.level).toBe("normal");
  const ballast = Buffer.alloc(700 * MEGABYTE);
  await gateway.kernel.monitor.check();
  expect(ballast.length).toBeGreaterThan(0);
  const strip = page.locator(".warnings");
  await strip.getByRole("link", { name: "See health" }).click();
  await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
  await strip.getByRole("button", { name: "Dismiss" }).click();
  await strip.waitFor({ state: "detached" });
  // The gateway of this test manages no agents, which the first page says.
  expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
});
