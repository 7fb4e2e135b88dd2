import { LonghaulError } from "../../../src/model/errors.ts";
import type { GenerateRequest, Generation, Provider } from "../../../src/wire/provider/provider.ts";
import { ProviderError } from "../../../src/wire/provider/provider-error.ts";

/** Behavior of a scripted model. */
export type Behaviour =
  | { readonly type: "says"; readonly text: string }
  | { readonly type: "answers"; readonly by: (request: GenerateRequest) => string }
  | { readonly type: "fails"; readonly status: number; readonly message?: string }
  | { readonly type: "refuses" | "stalls" | "deaf" | "nothing" };

/** A provider that follows the script, one behavior per call, repeating the last one. */
export function scriptedProvider(
  id: string,
  script: readonly Behaviour[],
): Provider & { readonly calls: GenerateRequest[] } {
  const calls: GenerateRequest[] = [];
  return {
    id,
    calls,
    generate(request) {
      const behaviour = script[Math.min(calls.length, script.length - 1)] as Behaviour;
      calls.push(request);
      return perform(id, behaviour, request);
    },
  };
}

async function perform(id: string, behaviour: Behaviour, request: GenerateRequest): Promise<Generation> {
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  switch (behaviour.type) {
    case "says":
      return { text: behaviour.text, finishReason: "stop", usage };
    case "answers":
      return { text: behaviour.by(request), finishReason: "stop", usage };
    case "nothing":
      return { text: "", finishReason: "stop", usage };
    case "fails": {
      const { status, message = "something went wrong" } = behaviour;
      throw new ProviderError("PROVIDER_FAILED", {
        provider: id,
        message,
        isRetryable: status === 429 || status >= 500,
        failure: { status, message, body: JSON.stringify({ error: { message } }) },
      });
    }
    case "refuses":
      throw new ProviderError("PROVIDER_REFUSED", { provider: id, message: "no", isRetryable: false });
    case "deaf":
      return new Promise(() => undefined);
    case "stalls":
      return new Promise((_, reject) => {
        request.signal?.addEventListener("abort", () =>
          reject(new LonghaulError("ABORTED", "aborted", { cause: request.signal?.reason })),
        );
      });
  }
}
