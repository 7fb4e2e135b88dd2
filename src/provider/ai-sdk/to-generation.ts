import type { FinishReason, Generation } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import type { RawAnswer } from "./collect-answer.ts";
import { parseSdkUsage } from "./parse-sdk-usage.ts";

const finishReasons: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length" };

/** Turns a raw answer into a generation; throws if it is a refusal or incomplete. */
export function toGeneration(collected: RawAnswer | undefined, provider: string): Generation {
  const { unified, raw } = collected?.finishReason ?? { unified: "other", raw: undefined };
  // The SDK itself closes a stream that breaks off: as "interrupted", or before version 4 without a raw reason.
  const isCut = unified === "interrupted" || (unified === "other" && raw === undefined);
  if (collected === undefined || isCut) {
    throw new ProviderError("PROVIDER_FAILED", {
      provider,
      message: `${provider} broke off after ${collected?.text.length ?? 0} characters of its answer.`,
      isRetryable: true,
    });
  }
  const usage = parseSdkUsage(collected.usage);
  const known = { ...(usage !== undefined && { usage }) };
  if (unified === "content-filter") {
    throw new ProviderError("PROVIDER_REFUSED", {
      provider,
      message: `${provider} refused to answer (${raw ?? "refusal"}); ask another model, or change the prompt.`,
      isRetryable: false,
      details: { reason: raw ?? "refusal" },
      ...known,
    });
  }
  if (unified === "error") {
    throw new ProviderError("PROVIDER_FAILED", {
      provider,
      message: `${provider} ended its answer with an error (${raw ?? "no reason given"}).`,
      isRetryable: true,
      ...known,
    });
  }
  return {
    text: collected.text,
    finishReason: finishReasons[unified] ?? "other",
    ...(raw !== undefined && { rawFinishReason: raw }),
    ...known,
    ...(collected.model !== undefined && { model: collected.model }),
  };
}
