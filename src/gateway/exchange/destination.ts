import type { ApiName } from "../api/api.ts";
import type { UpstreamConfig } from "../config/config.ts";
import { chooseUpstream } from "../upstream/choose-upstream.ts";
import { FaultError } from "./fault-error.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** Where a request goes, and under what name. */
export interface Destination {
  readonly upstream: UpstreamConfig;
  /** The model as the upstream knows it. */
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of a million tokens. */
  readonly isMillion: boolean;
}

/** Claude Code and others ask for the long window beside the model, not by its name. */
const MILLION_BETA = /(?:^|,)\s*context-1m-/;

/** What a model is called that a request does not name: some servers have only one, and prompts may be kept elsewhere. */
export const UNNAMED = "unnamed";

/** Where a request for a model goes. Throws `FaultError` if nobody speaks the API, or it names no model. */
export function destinationOf(
  api: ApiName,
  clientModel: string | undefined,
  { config }: Pick<ExchangeParts, "config">,
  { request }: Pick<Admitted, "request">,
): Destination {
  const chosen = chooseUpstream(config().upstreams, {
    api,
    model: clientModel === UNNAMED ? undefined : clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  if (clientModel === undefined)
    throw new FaultError({ status: 400, kind: "invalid_request", message: 'The body names no "model".' });
  const isMillion = MILLION_BETA.test(String(request.headers["anthropic-beta"] ?? ""));
  return { upstream: chosen.upstream, model: chosen.model ?? clientModel, clientModel, isMillion };
}
