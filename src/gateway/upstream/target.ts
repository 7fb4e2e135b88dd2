import type { ApiName } from "../api/api.ts";
import { FaultError } from "../api/fault-error.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming, Services } from "../exchange/services.ts";
import { chooseUpstream } from "./choose-upstream.ts";

/** The upstream and the model name for a request. */
export interface Target {
  readonly upstream: UpstreamConfig;
  /** The model, as the upstream names it. */
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** Claude Code and others ask for the long window by a header, not by the model's name. */
const MILLION_BETA = /(?:^|,)\s*context-1m-/;

/** Placeholder for a request without a model: some servers have only one, and stored prompts may name it. */
export const UNNAMED_MODEL = "unnamed";

/** The destination of a request. Throws `FaultError` if no upstream speaks the API, or if no model is named. */
export function chooseTarget(
  api: ApiName,
  clientModel: string | undefined,
  { config }: Pick<Services, "config">,
  { request }: Pick<Incoming, "request">,
): Target {
  const chosen = chooseUpstream(config().upstreams, {
    api,
    model: clientModel === UNNAMED_MODEL ? undefined : clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  if (clientModel === undefined)
    throw new FaultError({ status: 400, kind: "invalid_request", message: 'The body names no "model".' });
  const isMillion = MILLION_BETA.test(String(request.headers["anthropic-beta"] ?? ""));
  return { upstream: chosen.upstream, model: chosen.model ?? clientModel, clientModel, isMillion };
}
