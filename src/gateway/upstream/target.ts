import type { UpstreamConfig } from "../config/config.ts";
import { CHATGPT } from "../config/well-known-upstreams.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { chooseUpstream } from "./choose-upstream.ts";
import type { UpstreamServices } from "./upstream-services.ts";

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
const UNNAMED_MODEL = "unnamed";

/** The target of a request. Throws `FaultError` if no upstream speaks the API, or if no model is named. */
export function chooseTarget(
  request: ParsedRequest,
  incoming: Incoming,
  services: Pick<UpstreamServices, "config">,
): Target {
  const { fields, messages } = request;
  // A request without messages must name a model.
  const isUnnamed = messages.list.length > 0 || typeof fields.all.prompt === "object";
  const clientModel = fields.model || (isUnnamed ? UNNAMED_MODEL : undefined);
  const target = chooseModelTarget(clientModel, incoming, services);
  incoming.trace.model = target.model;
  return target;
}

/** The target of a request that names a model. Throws `FaultError` like `chooseTarget`. */
export function chooseModelTarget(
  clientModel: string | undefined,
  { request, route }: Pick<Incoming, "request" | "route">,
  { config }: Pick<UpstreamServices, "config">,
): Target {
  const { upstreams } = config();
  // Only ChatGPT's own back-end accepts the token of a ChatGPT login.
  const login = request.headers["chatgpt-account-id"] === undefined ? undefined : CHATGPT;
  const own = upstreams.filter(({ name, apis }) => name === login && apis.includes(route.api));
  const chosen = chooseUpstream(own.length > 0 ? own : upstreams, {
    api: route.api,
    model: clientModel === UNNAMED_MODEL ? undefined : clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  if (clientModel === undefined)
    throw new FaultError({ status: 400, kind: "invalid_request", message: 'The body names no "model".' });
  const isMillion = MILLION_BETA.test(String(request.headers["anthropic-beta"] ?? ""));
  return { upstream: chosen.upstream, model: chosen.model ?? clientModel, clientModel, isMillion };
}
