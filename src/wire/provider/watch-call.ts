import { LonghaulError } from "../../model/errors.ts";
import { ProviderError } from "./provider-error.ts";
import type { Timeouts } from "./timeouts.ts";

/** Watches one call and ends it when its signal fires or a timeout expires. */
export interface CallWatch {
  /** Fires when the call has to end; pass it to the work. */
  readonly signal: AbortSignal;
  /** Reports that part of the answer has arrived. */
  progress(): void;
}

/** Limits of a call. */
interface CallLimits {
  /** Id of the provider. */
  readonly provider: string;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs the work and rejects with ABORTED or PROVIDER_TIMEOUT as soon as the call has to end, whether or not the work
 * heeds its signal. All timers and listeners are gone when this settles.
 */
export async function watchCall<T>(
  { provider, timeouts, signal }: CallLimits,
  work: (watch: CallWatch) => Promise<T>,
): Promise<T> {
  if (signal?.aborted) throw createAbortError(signal);
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (error: LonghaulError): void => {
    ended.reject(error);
    controller.abort(error);
  };
  const expire = (phase: Phase, timeoutMs: number) => () =>
    end(createTimeoutError(provider, phase, timeoutMs));
  const onAbort = (): void => {
    if (signal) end(createAbortError(signal));
  };
  const total = setTimeout(expire("total", timeouts.totalMs), timeouts.totalMs);
  let silence = setTimeout(expire("first-byte", timeouts.firstByteMs), timeouts.firstByteMs);
  let isIdlePhase = false;
  const progress = (): void => {
    if (controller.signal.aborted) return;
    if (isIdlePhase) {
      silence.refresh();
      return;
    }
    isIdlePhase = true;
    clearTimeout(silence);
    silence = setTimeout(expire("idle", timeouts.idleMs), timeouts.idleMs);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([ended.promise, work({ signal: controller.signal, progress })]);
  } finally {
    clearTimeout(total);
    clearTimeout(silence);
    signal?.removeEventListener("abort", onAbort);
    // Work that lost the race or failed halfway releases its connection.
    controller.abort();
  }
}

type Phase = "first-byte" | "idle" | "total";

const phaseWords: Readonly<Record<Phase, string>> = {
  "first-byte": "sent nothing",
  idle: "fell silent in the middle of its answer",
  total: "did not finish its answer",
};

const phaseOptions: Readonly<Record<Phase, keyof Timeouts>> = {
  "first-byte": "firstByteMs",
  idle: "idleMs",
  total: "totalMs",
};

function createTimeoutError(provider: string, phase: Phase, timeoutMs: number): ProviderError {
  return new ProviderError("PROVIDER_TIMEOUT", {
    provider,
    message: `${provider} ${phaseWords[phase]} for ${timeoutMs} ms; raise timeouts.${phaseOptions[phase]} if it needs longer.`,
    isRetryable: true,
    details: { phase, timeoutMs },
  });
}

function createAbortError(signal: AbortSignal): LonghaulError {
  return new LonghaulError("ABORTED", "The call was aborted by its signal.", { cause: signal.reason });
}
