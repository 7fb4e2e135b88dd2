import { setTimeout as after } from "node:timers/promises";
import { throwIfAborted } from "../../model/errors.ts";
import { ProviderError, redactKeys } from "../../wire/provider/provider-error.ts";
import { computeRetryDelay, isRetryable, parseRetryAfterMs } from "../../wire/provider/retry-after.ts";
import { resolveTimeouts } from "../../wire/provider/timeouts.ts";
import { watchCall } from "../../wire/provider/watch-call.ts";
import type { EmbedOptions } from "./embedder.ts";

/** Settings that remote embedders share. */
export interface RemoteOptions {
  /** The server, such as `http://localhost:11434`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  /** Texts per request; default 96. */
  readonly batchSize?: number;
  /** Timeout of one request; default 60 s. */
  readonly timeoutMs?: number;
  /** Waits between attempts; replaceable for tests. */
  readonly wait?: (delayMs: number) => Promise<unknown>;
}

/** A request to an embedding service. */
interface RemoteCall {
  /** Id of the embedder. */
  readonly id: string;
  readonly url: string;
  readonly body: unknown;
}

const BATCH_SIZE = 96;
const TIMEOUT_MS = 60_000;
const MAX_BODY_CHARACTERS = 100_000;

/** Embeds texts in batches, one after another, and joins the results. */
export async function embedInBatches(
  texts: readonly string[],
  size: number | undefined,
  embed: (batch: readonly string[]) => Promise<readonly ArrayLike<number>[]>,
): Promise<ArrayLike<number>[]> {
  const vectors: ArrayLike<number>[] = [];
  const step = size ?? BATCH_SIZE;
  for (let at = 0; at < texts.length; at += step) {
    vectors.push(...(await embed(texts.slice(at, at + step))));
  }
  return vectors;
}

/** Posts JSON and returns the JSON response; retries where that can help. */
export async function postJson(
  call: RemoteCall,
  { apiKey, timeoutMs = TIMEOUT_MS, wait = after }: RemoteOptions,
  { signal }: EmbedOptions,
): Promise<unknown> {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      const timeouts = resolveTimeouts({ firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs });
      return await watchCall({ provider: call.id, timeouts, signal }, (watch) =>
        postOnce(call, apiKey, watch.signal),
      );
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { isRetryable, retryAfterMs: wished } = error.details;
      const delayMs = computeRetryDelay({
        attempt,
        isRetryable: isRetryable === true,
        ...(typeof wished === "number" && { retryAfterMs: wished }),
        waitedMs,
        random: Math.random(),
      });
      if (delayMs === undefined) throw error;
      throwIfAborted(signal);
      await wait(delayMs);
      waitedMs += delayMs;
    }
  }
}

async function postOnce(
  { id, url, body }: RemoteCall,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const secrets = apiKey === undefined ? [] : [apiKey];
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(body),
      signal,
    });
    text = await response.text();
  } catch (error) {
    throw createEmbedError(id, redactKeys(String(error instanceof Error ? error.message : error), secrets), {
      isRetryable: true,
    });
  }
  if (!response.ok) {
    const shown = redactKeys(text, secrets).slice(0, MAX_BODY_CHARACTERS);
    const headers = Object.fromEntries(response.headers);
    const waitMs = parseRetryAfterMs({ headers, body: shown, now: Date.now() });
    throw createEmbedError(id, `${response.status} ${shown.slice(0, 300)}`, {
      isRetryable: isRetryable({ status: response.status, headers, body: shown }),
      status: response.status,
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw createEmbedError(id, `it answered something that is not JSON: ${text.slice(0, 100)}`, {
      isRetryable: false,
    });
  }
}

/** The error of an embedder that failed. */
export function createEmbedError(
  id: string,
  reason: string,
  facts: { readonly isRetryable: boolean; readonly status?: number; readonly retryAfterMs?: number },
): ProviderError {
  return new ProviderError("PROVIDER_FAILED", {
    provider: id,
    message: `${id} did not embed the texts: ${reason}`,
    isRetryable: facts.isRetryable,
    ...(facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
    failure: { message: reason, ...(facts.status !== undefined && { status: facts.status }) },
  });
}

/** Returns the vectors if there is a numeric one per text, all of one length; else throws PROVIDER_FAILED. */
export function checkVectors(id: string, vectors: unknown, count: number): readonly ArrayLike<number>[] {
  if (Array.isArray(vectors) && vectors.length === count) {
    const dimensions = Array.isArray(vectors[0]) ? vectors[0].length : 0;
    const isVector = (vector: unknown) =>
      Array.isArray(vector) &&
      vector.length === dimensions &&
      vector.every((value) => Number.isFinite(value));
    if (count === 0 || (dimensions > 0 && vectors.every(isVector))) return vectors;
  }
  throw createEmbedError(id, `it sent no ${count} vectors of one length`, { isRetryable: false });
}
