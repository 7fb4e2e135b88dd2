import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { loadConfig } from "../../../../src/gateway/config/load-config.ts";
import type { GatewaySpending, GatewayStatus } from "../../../../src/gateway/observe/gateway-status.ts";
import { Pages, type PagesOptions } from "../../../../src/gateway/pages/pages.ts";
import { type Kernel, openKernel } from "../../../../src/index.ts";
import { NO_SAVINGS } from "../../../../src/window-entry.ts";
import { testFolder } from "../../../support/folder.ts";

/** A gateway with pages only, on a real port. */
export interface Served {
  readonly url: string;
  readonly kernel: Kernel;
  readonly errors: unknown[];
  get(path: string, init?: RequestInit): Promise<Response>;
  json(path: string, init?: RequestInit): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>;
}

export const SPENDING: GatewaySpending = {
  spentCost: 1.5,
  savings: {
    ...NO_SAVINGS,
    requests: 3,
    removedTokens: 1_000,
    savedCost: 0.5,
    withoutCost: 2,
    extraWriteCost: 0.25,
  },
};

const QUIET: GatewayStatus = {
  url: "http://127.0.0.1:4747",
  startedAt: 1,
  isOpen: true,
  inFlight: 0,
  totals: { requests: 3, failures: 0, edits: 1, healed: 1, spending: SPENDING },
  upstreams: [{ name: "anthropic", requests: 3, failures: 1, lastStatus: 200 }],
  memory: { sample: undefined, relief: undefined, notices: [] },
  threads: [],
};

/** Serves pages; a request with "x-reader" acts as a reader of that prefix. */
export async function servePages(
  options: Partial<PagesOptions> & { readonly told?: Partial<GatewayStatus> } = {},
): Promise<Served> {
  const { told = {}, ...given } = options;
  const kernel = given.kernel ?? (await openKernel({ path: ":memory:", embedder: null }));
  const env = given.env ?? {};
  const { config } = loadConfig({ cwd: testFolder(), env, flags: {} });
  const errors: unknown[] = [];
  const pages = new Pages({
    kernel,
    config: () => config,
    status: () => ({ ...QUIET, ...told }),
    env,
    version: "1.2.3",
    system: { home: testFolder(), platform: process.platform, env: {} },
    onError: (error) => errors.push(error),
    ...given,
  });
  const readerOf = ({ headers }: IncomingMessage) => {
    const reader = headers["x-reader"];
    return reader === undefined ? {} : { prefixes: [String(reader)] };
  };
  const server = createServer(async (request, response) => {
    if (await pages.handle(request, response, readerOf(request))) return;
    response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await pages.close();
    await kernel.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);
  const json = async (path: string, init?: RequestInit) => {
    const response = await get(path, init);
    return { status: response.status, body: await response.json() };
  };
  return { url, kernel, errors, get, json };
}
