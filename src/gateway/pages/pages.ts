import type { IncomingMessage, ServerResponse } from "node:http";
import { HistoryImport, ReplayRunner } from "../../api/jobs/index.ts";
import type { System } from "../../formats/index.ts";
import type { Kernel } from "../../index.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Environment } from "../config/config-flags.ts";
import type { GatewayStatus } from "../observe/gateway-status.ts";
import { buildHealthPage, buildReadyPage } from "./health-page.ts";
import { buildImportPage } from "./import-page.ts";
import { IndexProgress } from "./index-progress.ts";
import { buildOverviewPage } from "./overview-page.ts";
import { PageFault, toFaultReply } from "./page-fault.ts";
import { type PageReply, sendPage } from "./page-reply.ts";
import { checkMethod, type PageRequest } from "./page-request.ts";
import { buildRecallPage } from "./recall-page.ts";
import { buildReplayPage } from "./replay-page.ts";
import { buildSessionsPage } from "./sessions-page.ts";

export interface PagesOptions {
  readonly kernel: Kernel;
  readonly config: () => GatewayConfig;
  readonly status: () => GatewayStatus;
  readonly env: Environment;
  readonly version: string;
  /** The computer whose histories are imported; default: this one. */
  readonly system?: System;
  /** Called for unexpected errors. */
  readonly onError?: (error: unknown) => void;
}

/** The reader of a page. */
interface PageReader {
  /** The reader may see only sessions whose id begins with one of these prefixes; default: all. */
  readonly prefixes?: readonly string[];
}

type Handler = (asked: PageRequest) => PageReply | Promise<PageReply>;

/**
 * The gateway's own pages for programs. Access is checked before: except for /healthz and /readyz, which reveal no data
 * of any principal, all pages are for admitted readers.
 */
export class Pages {
  readonly #options: PagesOptions;
  /** The import and the replays of this gateway, which the API runs too. */
  readonly imports: HistoryImport;
  readonly replays: ReplayRunner;
  readonly #handlers: Readonly<Record<string, Handler>>;

  constructor(options: PagesOptions) {
    const { kernel, config, status, env, version, system } = options;
    const replays = new ReplayRunner(kernel);
    const imports = new HistoryImport(kernel, system);
    const index = new IndexProgress(kernel);
    const readOnly =
      (handler: Handler): Handler =>
      (callRequest) => {
        checkMethod(callRequest, "GET", "HEAD");
        return handler(callRequest);
      };
    this.#options = options;
    this.imports = imports;
    this.replays = replays;
    this.#handlers = {
      "/healthz": readOnly(buildHealthPage),
      "/readyz": readOnly(() => buildReadyPage(kernel, status())),
      "/api/status": readOnly((callRequest) =>
        buildOverviewPage({ config: config(), status: status(), env, version, index }, callRequest),
      ),
      "/api/sessions": (callRequest) => buildSessionsPage(kernel, callRequest),
      "/api/recall": (callRequest) => buildRecallPage(kernel, callRequest),
      "/api/replay": (callRequest) => buildReplayPage(kernel, replays, callRequest),
      "/api/import": (callRequest) => buildImportPage(imports, callRequest),
    };
  }

  /** Answers a request for one of these pages; returns false for any other path. Never throws. */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    { prefixes }: PageReader = {},
  ): Promise<boolean> {
    const { method = "GET", url = "/" } = request;
    const [path = "/"] = url.split("?", 1);
    const name = this.#nameOf(path);
    const handler = name === undefined ? undefined : this.#handlers[name];
    if (name === undefined || !handler) return false;
    const left = new AbortController();
    const leave = () => left.abort();
    response.once("close", leave);
    // No page reads a body; an unread one would block the connection.
    request.resume();
    try {
      const query = new URLSearchParams(url.slice(path.length));
      const rest = decodeRest(path, name);
      const callRequest: PageRequest = { method, rest, query, prefixes, signal: left.signal };
      sendPage(response, await handler(callRequest), method === "HEAD");
    } catch (error) {
      const { status, headers, error: told } = toFaultReply(error);
      if (told.code === "UNEXPECTED") this.#options.onError?.(error);
      sendPage(response, { status, headers, json: { error: told } }, method === "HEAD");
    } finally {
      response.off("close", leave);
    }
    return true;
  }

  /** Stops imports that pages have started. */
  close(): Promise<void> {
    return this.imports.close();
  }

  #nameOf(path: string): string | undefined {
    if (Object.hasOwn(this.#handlers, path)) return path;
    const [name = ""] = /^\/api\/[a-z]+(?=\/)/.exec(path) ?? [];
    return Object.hasOwn(this.#handlers, name) ? name : undefined;
  }
}

function decodeRest(path: string, name: string): string {
  const rest = path.slice(name.length).replace(/^\//, "");
  try {
    return decodeURIComponent(rest);
  } catch {
    throw new PageFault(
      400,
      "ARGUMENT_INVALID",
      `${JSON.stringify(rest.slice(0, 80))} is not a valid URL encoding.`,
    );
  }
}
