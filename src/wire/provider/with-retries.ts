import { setTimeout as after } from "node:timers/promises";
import { checkFields } from "../../model/argument-checks.ts";
import { checkWholeNumber, throwIfAborted } from "../../model/errors.ts";
import type { GenerateRequest, Generation, Provider } from "./provider.ts";
import { ProviderError } from "./provider-error.ts";
import { computeRetryDelay, type RetryLimits, retryLimits } from "./retry-after.ts";

/** A failed try that will be retried. */
export interface Retry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ProviderError;
}

/** Options for retrying a provider's calls. */
export interface RetryOptions extends Partial<RetryLimits> {
  /** Called before each wait. */
  readonly onRetry?: (retry: Retry) => void;
  /** From 0 up to 1; injectable for tests. */
  readonly random?: () => number;
  /** Waits, and rejects as soon as the signal fires; injectable so that tests need not wait. */
  readonly wait?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Wraps a provider so that retryable failures are retried; throws the last failure. */
export function withRetries(provider: Provider, options: RetryOptions = {}): Provider {
  checkFields("provider", provider, { id: "text", generate: "function" });
  checkFields("options", options, { onRetry: "function?", random: "function?", wait: "function?" });
  const limits = resolveRetryLimits(options);
  return { id: provider.id, generate: (request) => generateWithRetries(provider, request, limits, options) };
}

async function generateWithRetries(
  provider: Provider,
  request: GenerateRequest,
  limits: RetryLimits,
  { onRetry, random = Math.random, wait = waitFor }: RetryOptions,
): Promise<Generation> {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await provider.generate(request);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { retryAfterMs } = error.details;
      const delayMs = computeRetryDelay(
        {
          attempt,
          isRetryable: error.details.isRetryable === true,
          ...(typeof retryAfterMs === "number" && { retryAfterMs }),
          waitedMs,
          random: random(),
        },
        limits,
      );
      if (delayMs === undefined) throw error;
      throwIfAborted(request.signal);
      onRetry?.({ attempt, delayMs, error });
      await wait(delayMs, request.signal);
      waitedMs += delayMs;
    }
  }
}

async function waitFor(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await after(delayMs, undefined, signal && { signal });
  } catch {
    throwIfAborted(signal);
  }
}

function resolveRetryLimits(options: RetryOptions): RetryLimits {
  const chosen = (name: keyof RetryLimits, min: number): number =>
    checkWholeNumber(`retries.${name}`, options[name] ?? retryLimits[name], min);
  return {
    tries: chosen("tries", 1),
    mostWaitMs: chosen("mostWaitMs", 0),
    firstDelayMs: chosen("firstDelayMs", 0),
    mostDelayMs: chosen("mostDelayMs", 0),
  };
}
