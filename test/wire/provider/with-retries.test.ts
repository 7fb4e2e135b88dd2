import { describe, expect, test } from "vitest";
import type { Generation, Provider } from "../../../src/wire/provider/provider.ts";
import { ProviderError } from "../../../src/wire/provider/provider-error.ts";
import { type Retry, withRetries } from "../../../src/wire/provider/with-retries.ts";

const answer: Generation = { text: "done", finishReason: "stop" };

function failing(isRetryable: boolean, retryAfterMs?: number): ProviderError {
  return new ProviderError("PROVIDER_FAILED", {
    provider: "test/model",
    message: "test/model failed.",
    isRetryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** A provider that throws the given errors in order, and then replies. */
function scripted(...failures: readonly Error[]): Provider & { calls: number } {
  const provider = {
    id: "test/model",
    calls: 0,
    async generate() {
      const failure = failures[provider.calls++];
      if (failure) throw failure;
      return answer;
    },
  };
  return provider;
}

describe("a provider with retries", () => {
  test("a provider with retries repeats a call after temporary failures, and waits as long as it was told", async () => {
    const waits: number[] = [];
    const retries: Retry[] = [];
    const provider = scripted(failing(true), failing(true, 3_000));
    const patient = withRetries(provider, {
      random: () => 0,
      wait: async (delayMs) => void waits.push(delayMs),
      onRetry: (retry) => retries.push(retry),
    });
    expect(await patient.generate({ prompt: "hello" })).toEqual(answer);
    expect(waits).toEqual([500, 3_000]);
    expect(retries.map(({ attempt, error }) => [attempt, error.code])).toEqual([
      [1, "PROVIDER_FAILED"],
      [2, "PROVIDER_FAILED"],
    ]);
    expect(patient.id).toBe("test/model");
  });

  test("a provider with retries gives up after three tries with the last failure", async () => {
    const last = failing(true);
    const provider = scripted(failing(true), failing(true), last, failing(true));
    const patient = withRetries(provider, { wait: async () => {} });
    await expect(patient.generate({ prompt: "hello" })).rejects.toBe(last);
    expect(provider.calls).toBe(3);
  });

  test("a provider with retries calls once after permanent and other failures", async () => {
    for (const failure of [failing(false), new TypeError("a mistake")]) {
      const provider = scripted(failure);
      await expect(withRetries(provider).generate({ prompt: "hello" })).rejects.toBe(failure);
      expect(provider.calls).toBe(1);
    }
  });

  test("a provider with retries stops waiting at the signal", async () => {
    const controller = new AbortController();
    const provider = scripted(failing(true, 50_000));
    const patient = withRetries(provider, { onRetry: () => setImmediate(() => controller.abort()) });
    await expect(patient.generate({ prompt: "hello", signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(provider.calls).toBe(1);
  });

  test("a provider with retries refuses a wrong option by name", () => {
    expect(() => withRetries(scripted(), { tries: 0 })).toThrow(/retries\.tries is 0/);
  });
});
