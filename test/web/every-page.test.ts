import { expect } from "vitest";
import { browserProof, browserTest, openPage, type TestPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { findAccessFaults } from "./support/axe.ts";
import { fillStore, STORIES } from "./support/filled-store.ts";

const WIDTHS = [390, 768, 1_440];

const session = encodeURIComponent(STORIES[2]?.id ?? "");
const PAGES = [
  "/",
  "/?days=7",
  "/search?q=which%20port%20does%20the%20gate%20listen%20on",
  "/forgot?q=ferry%20leaves%20pier",
  "/spending",
  "/spending?agent=codex",
  `/sessions/${session}`,
  `/sessions/${session}?view=seen`,
  `/sessions/${session}/window`,
  "/memory",
  "/memory/memories",
  "/memory/sources",
  "/tasks",
  "/notices",
  "/health",
  "/connect",
  "/people",
  "/privacy",
  "/nowhere",
];

/** Opens the pages one after another, and returns everything that is wrong with them at a width, in light and dark. */
async function findFaults(
  url: string,
  opened: TestPage,
  { paths, width }: { readonly paths: readonly string[]; readonly width: number },
): Promise<readonly string[]> {
  const { page, problems } = opened;
  await page.setViewportSize({ width, height: 900 });
  const faults: string[] = [];
  for (const path of paths) {
    await page.goto(url + path);
    await page.locator("h1, .empty h2").first().waitFor();
    await page.waitForFunction(() => !document.querySelector(".loading"));
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      const place = `${path} at ${width} in ${colorScheme}`;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) faults.push(`${place} is ${wide} wide`);
      // A theme changes colors and no sizes, so one width shows its contrasts.
      if (colorScheme === "light" || width === WIDTHS.at(-1))
        for (const fault of await findAccessFaults(page)) faults.push(`${place}: ${fault}`);
    }
  }
  return [...faults, ...problems.filter((problem) => !problem.includes("404"))];
}

browserTest("the first pages fit a phone, without access faults and errors", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:1", path: await fillStore() });
  const opened = await openPage(`${gateway.url}/`);
  const paths = ["/", "/search?q=which%20port", "/spending", `/sessions/${session}/window`];
  expect(await findFaults(gateway.url, opened, { paths, width: 390 })).toEqual([]);
});

browserProof(
  "no page is wider than its window or has access faults, at three widths, in light and dark",
  async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:1", path: await fillStore() });
    const opened = await openPage(`${gateway.url}/`);
    const faults: string[] = [];
    for (const width of WIDTHS)
      faults.push(...(await findFaults(gateway.url, opened, { paths: PAGES, width })));
    expect(faults).toEqual([]);
  },
);

browserTest(
  "addresses with odd values show a page that says what to do, without errors of scripts",
  async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:1", path: await fillStore() });
    const { page, problems } = await openPage(`${gateway.url}/`, { viewport: { width: 390, height: 844 } });
    const said: [path: string, words: RegExp][] = [
      ["/spending?from=2026-13-45&to=nonsense", /All days/],
      ["/spending?to=2026-11-20", /Until Nov 20, 2026/],
      [`/search?q=${"x".repeat(2_000)}`, /xxx/],
      ["/sessions/nobody%2Fsaid-it", /It may have been deleted/],
      ["/tasks/never-made", /It may have been deleted/],
    ];
    for (const [path, words] of said) {
      await page.goto(gateway.url + path);
      await page.locator("main").getByText(words).first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  },
);
