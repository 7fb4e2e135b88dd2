import { writeFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { peakRssBytes, settledMemory } from "../../measure/memory.ts";
import { openPortkey } from "../../peers/portkey.ts";
import { bareProxy } from "./bare-proxy.ts";
import type { ContestantJob, Question, Told, Used } from "./contestant-job.ts";
import { KEEP_ALIVE_MS } from "./upstream.ts";

interface Running {
  readonly url: string;
  close(): Promise<void>;
}

let edits = 0;

const tell = (told: Told) => process.send?.(told);

process.once("disconnect", () => process.exit(1));
process.once("message", async (job: ContestantJob) => {
  try {
    const running = await openJob(job);
    process.on("message", (question: Question) => void answer(question, running));
    tell({ url: running.url });
  } catch (error) {
    tell({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

async function openJob(job: ContestantJob): Promise<Running> {
  if (job.type === "bare") return openBare(job);
  if (job.type === "gateway") return openOurs(job);
  // It has no way to close, and ends with the process.
  return { url: await openPortkey(), close: async () => undefined };
}

async function answer(question: Question, running: Running): Promise<void> {
  if (question === "settled") await settledMemory();
  if (question === "close") await running.close();
  tell({ used: used() });
  if (question === "close") process.exit(0);
}

function used(): Used {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, rssBytes: rss, peakRssBytes: peakRssBytes(), edits };
}

async function openBare({ upstream, handing }: Extract<ContestantJob, { type: "bare" }>): Promise<Running> {
  const server = bareProxy(upstream, handing);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: async () => server.closeAllConnections() };
}

type Ours = Pick<typeof import("../../../src/server/gateway/index.ts"), "loadConfig" | "openGateway"> &
  Pick<typeof import("../../../src/kernel/index.ts"), "openKernel"> &
  Pick<typeof import("../../../src/cli/serving/serve-gateway.ts"), "tendHeap">;

/** Loads the built code, because the TypeScript loader takes 40 MB. The process of a bare proxy does not load it. */
async function loadOurs(): Promise<Ours> {
  const load = (path: string) => import(new URL(`../../../dist/${path}`, import.meta.url).href);
  const { loadConfig, openGateway } = await load("server/entries/gateway.js");
  const { openKernel } = await load("index.js");
  // Inside the bundle of the program; the file imports nothing else.
  const { tendHeap } = await import("../../../src/cli/serving/serve-gateway.ts");
  return { loadConfig, openGateway, openKernel, tendHeap };
}

/** The gateway as `longhaul serve` runs it, with its log output counted and discarded. */
async function openOurs(job: Extract<ContestantJob, { type: "gateway" }>): Promise<Running> {
  const { upstream, folder, config: settings, window } = job;
  enableCompileCache(join(folder, "compiled"));
  const { loadConfig, openGateway, openKernel, tendHeap } = await loadOurs();
  const path = join(folder, "longhaul.json");
  const place = { name: "local", baseUrl: upstream, apis: ["anthropic"], ...(window && { window }) };
  writeFileSync(
    path,
    JSON.stringify({ port: 0, upstreams: [place], limits: { keepAliveMs: KEEP_ALIVE_MS }, ...settings }),
    { mode: 0o600 },
  );
  const { config } = loadConfig({ path, cwd: folder, env: {}, flags: {} });
  const kernel = await openKernel({ path: join(folder, "store"), models: config.models });
  const log = (line: string) => {
    if (line.includes('"event":"edit"')) edits++;
  };
  const gateway = await openGateway({ kernel, config: () => config, env: {}, log });
  const leaveHeap = tendHeap(() => gateway.status().inFlight);
  const close = async () => {
    leaveHeap();
    await gateway.close();
    await kernel.close();
  };
  return { url: gateway.url, close };
}
