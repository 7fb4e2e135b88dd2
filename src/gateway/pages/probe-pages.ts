import { runWithTimeLimit } from "../../base/time-limit.ts";
import type { Kernel } from "../../index.ts";
import type { GatewayStatus } from "../observe/gateway-status.ts";
import type { LazyApi } from "./lazy-api.ts";
import type { PageReply } from "./page-reply.ts";

/** Liveness check. */
export function buildHealthPage(): PageReply {
  return { json: { status: "ok" } };
}

const MAX_PROBE_MS = 2_000;

/** Readiness check: fails while the gateway drains, or while its store cannot be written or its API cannot be loaded. */
export async function buildReadyPage(
  kernel: Kernel,
  status: GatewayStatus,
  api: Pick<LazyApi, "isUsable">,
): Promise<PageReply> {
  const reasons: string[] = [];
  if (!status.isOpen) reasons.push("draining");
  await runWithTimeLimit({ limitMs: MAX_PROBE_MS }, () => kernel.probe()).catch(() => reasons.push("store"));
  if (!(await api.isUsable())) reasons.push("api");
  const isReady = reasons.length === 0;
  return { status: isReady ? 200 : 503, json: { status: isReady ? "ready" : "not ready", reasons } };
}
