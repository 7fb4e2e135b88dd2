import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { CHROMIUM_FLAGS, CHROMIUM_REMEDY, findChromium } from "../../../scripts/find-chromium.mjs";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import { loadConfig, openGateway } from "../../../src/server/gateway/index.ts";

/** A store that a gateway of this process serves, and a page of a browser. */
export interface ServedStore {
  readonly kernel: Kernel;
  readonly url: string;
  readonly page: Page;
  readonly meter: PageMeter;
  close(): Promise<void>;
}

/** Nothing is ever sent to it. */
const NO_UPSTREAM = { name: "none", baseUrl: "http://127.0.0.1:1", apis: ["anthropic"] };

/** Opens a store with its dashboard; `fill` writes it before the browser starts. */
export async function serveStore(
  folder: string,
  fill: (kernel: Kernel) => Promise<void>,
): Promise<ServedStore> {
  const program = findChromium();
  if (program === undefined) throw new Error(`${CHROMIUM_REMEDY}.`);
  const file = join(folder, "longhaul.json");
  writeFileSync(file, JSON.stringify({ port: 0, upstreams: [NO_UPSTREAM] }), { mode: 0o600 });
  const { config } = loadConfig({ path: file, cwd: folder, env: {}, flags: {} });
  const options = { path: join(folder, "store"), models: config.models, embedder: null };
  {
    await using writer = await openKernel(options);
    await fill(writer);
  }
  const kernel = await openKernel(options);
  const gateway = await openGateway({ kernel, config: () => config, log: () => undefined, env: {} });
  const browser = await chromium.launch({ executablePath: program, args: [...CHROMIUM_FLAGS] });
  const page = await browser.newPage({ viewport: { width: 1_280, height: 860 }, locale: "en-US" });
  const meter = new PageMeter(await page.context().newCDPSession(page));
  await meter.start();
  return {
    kernel,
    url: gateway.url,
    page,
    meter,
    close: async () => {
      await browser.close();
      await gateway.close();
      await kernel.close();
    },
  };
}

/** Figures of a page from the browser itself. */
export interface PageFigures {
  /** CPU of the main thread in milliseconds. */
  readonly cpuMs: number;
  readonly heapBytes: number;
}

/** Reads the figures of a page over the protocol of Chromium's tools. */
export class PageMeter {
  readonly #tools: CDPSession;

  constructor(tools: CDPSession) {
    this.#tools = tools;
  }

  async start(): Promise<void> {
    // Time of threads is CPU time: a busy machine does not lengthen it.
    await this.#tools.send("Performance.enable", { timeDomain: "threadTicks" });
  }

  async read(): Promise<PageFigures> {
    const { metrics } = await this.#tools.send("Performance.getMetrics");
    const get = (name: string) => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
    return { cpuMs: 1_000 * get("TaskDuration"), heapBytes: get("JSHeapUsedSize") };
  }

  /** Elements in the document; those that left it are not counted. */
  async countElements(): Promise<number> {
    const expression = "document.querySelectorAll('*').length";
    const { result } = await this.#tools.send("Runtime.evaluate", { expression });
    return Number(result.value);
  }
}

/** The address of a conversation. */
export function linkToSession(url: string, session: string): string {
  return `${url}/sessions/${encodeURIComponent(session)}`;
}
