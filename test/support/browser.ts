import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { onTestFinished, test } from "vitest";
import { CHROMIUM_FLAGS, CHROMIUM_REMEDY, findChromium } from "../../scripts/find-chromium.mjs";
import { proofTestIf } from "./proof.ts";

/** Skipped tests say how to run them. */
const REMEDY = `${CHROMIUM_REMEDY}, then repeat npm test`;

const program = findChromium();
let warned = false;

type BrowserTest = (title: string, body: () => Promise<void>) => void;

function defineBrowserTest(define: (title: string, body: () => Promise<void>) => void): BrowserTest {
  return (title, body) => {
    if (program !== undefined) return define(title, body);
    if (!warned) process.stderr.write(`Browser tests are skipped: ${REMEDY}.\n`);
    warned = true;
    test(`${title} (${REMEDY})`, (context) => context.skip(REMEDY));
  };
}

/** A test in a real browser; without one it is skipped, and its title says what to install. */
export const browserTest = defineBrowserTest(test);
/** A long test in a real browser. */
export const browserProof = defineBrowserTest(proofTestIf(program !== undefined));

/** The browser of this worker, for all files that it runs; it ends with the worker. */
let browser: Promise<Browser> | undefined;

async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    ...(program !== undefined && { executablePath: program }),
    args: CHROMIUM_FLAGS,
  });
}

/** A page of the dashboard for one test, and the problems that it had. */
export interface TestPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, violations of the policy, failed loads, and requests to other hosts. */
  readonly problems: readonly string[];
}

/** Opens a page in its own context. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<TestPage> {
  browser ??= startBrowser();
  const context = await (await browser).newContext({
    viewport: { width: 1_280, height: 860 },
    locale: "en-US",
    timezoneId: "UTC",
    reducedMotion: "reduce",
    ...options,
  });
  onTestFinished(() => context.close());
  // As long as polls of the suite wait.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems: string[] = [];
  const { host } = new URL(url);
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.host !== host && !["data:", "blob:"].includes(asked.protocol))
      problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, context, problems };
}

const ARTIFACTS = fileURLToPath(new URL("../../artifacts/", import.meta.url));

/** Keeps a screenshot under artifacts/, for people to look at. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true, animations: "disabled" });
}
