import { signal } from "@preact/signals";
import type { ApiFailure } from "../api/api-failure.ts";
import { toFailure } from "../api/api-failure.ts";
import { call } from "../api/client.ts";
import type { Reply } from "../api/routes.ts";
import { onChange } from "./changes.ts";
import { whenIdle } from "./when-idle.ts";

const INTERVAL_MS = 10_000;

/** The state of the gateway, for the frame around all pages. */
export const health = signal<Reply<"GET /health"> | undefined>(undefined);
export const healthFailure = signal<ApiFailure | undefined>(undefined);

/** Reads the state now. */
export async function readHealth(end?: AbortSignal): Promise<void> {
  try {
    health.value = await call("GET /health", {}, end ? { signal: end } : {});
    healthFailure.value = undefined;
  } catch (error) {
    if (!end?.aborted) healthFailure.value = toFailure(error);
  }
}

/** Reads the state again and again while the page is visible, and after each message of the monitor, until `end` fires. */
export function watchHealth(end: AbortSignal): void {
  const timer = setInterval(() => {
    if (!document.hidden) void readHealth(end);
  }, INTERVAL_MS);
  const stop = onChange(({ event }) => {
    if (event === "memory") void readHealth(end);
  });
  end.addEventListener("abort", () => {
    clearInterval(timer);
    stop();
  });
  // The page itself comes first: measuring the store takes the gateway some milliseconds.
  void whenIdle().then(() => readHealth(end));
}
