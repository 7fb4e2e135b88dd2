import type { Kernel } from "../../index.ts";
import type { PageAnswer } from "./answer.ts";
import type { GatewayStatus } from "./status.ts";

/** The process is alive. */
export function healthPage(): PageAnswer {
  return { json: { status: "ok" } };
}

/** Whether requests should be sent here: not while it drains, nor while its store cannot be read. */
export async function readyPage(kernel: Kernel, status: GatewayStatus): Promise<PageAnswer> {
  const reasons: string[] = [];
  if (!status.isOpen) reasons.push("draining");
  await kernel.sessions({ limit: 1 }).catch(() => reasons.push("store"));
  const isReady = reasons.length === 0;
  return { status: isReady ? 200 : 503, json: { status: isReady ? "ready" : "not ready", reasons } };
}
