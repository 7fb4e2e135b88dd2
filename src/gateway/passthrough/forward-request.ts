import { Turns } from "../../base/turns.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { FaultError } from "../fault-error.ts";
import { oddFieldSteps, parseRange } from "../request/cut-body.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import { checkBodyReadable, checkEndpointAccess, checkReferenceAccess } from "../upstream/check-ownership.ts";
import { checkTargetAllowed } from "../upstream/check-target.ts";
import { chooseUpstream } from "../upstream/choose-upstream.ts";
import { chooseModelTarget } from "../upstream/target.ts";
import { compactResponses } from "./compact-responses.ts";
import { countTokens } from "./count-tokens.ts";
import { listModels } from "./list-models.ts";
import { passThrough } from "./pass-through.ts";
import { replaceModel } from "./replace-model.ts";

/** Handles endpoints without a conversation; the model that a request names, if any, decides the upstream. */
export async function forwardRequest(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  if (route.type === "models") return listModels(incoming, services);
  if (route.type === "api" && route.action === "compact") {
    if (await compactResponses(incoming, services)) return;
  } else if (route.type === "api") {
    const target = chooseModelTarget(await readModel(body), incoming, services);
    checkTargetAllowed(incoming.principal, target);
    await checkReferenceAccess(incoming, services, target.upstream);
    return countTokens(incoming, services, target);
  }
  await forwardUnchanged(incoming, services);
}

/** Forwards a request unchanged, except for the model's name. */
export async function forwardUnchanged(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  const clientModel = isModelNeeded(incoming, services) ? await readModel(body) : undefined;
  const chosen = chooseUpstream(services.config().upstreams, { api: route.api, model: clientModel });
  if (chosen.fault) throw new FaultError(chosen.fault);
  const { upstream, model = clientModel } = chosen;
  const isReading = incoming.request.method === "GET" || incoming.request.method === "HEAD";
  if (!isReading) {
    checkTargetAllowed(incoming.principal, { upstream, model, clientModel });
    const checking = incoming.spending.checkUnmeasured({ project: undefined, model: model ?? "" });
    if (checking) await checking;
  }
  if (route.type === "pass") {
    const checking = checkEndpointAccess(incoming, services, upstream);
    if (checking) await checking;
  } else checkBodyReadable(incoming, services, upstream);
  await passThrough(
    incoming,
    services,
    upstream,
    model === clientModel ? undefined : replaceModel(body, model),
  );
}

/** True if the model decides anything: the upstream, or the rights and budgets of a person. */
function isModelNeeded({ principal, route }: Incoming, { config, spending }: Services): boolean {
  if (principal.person || spending.state.isInUse() !== false) return true;
  return config().upstreams.some(
    ({ apis, prefix, models }) => (prefix || models) && apis.includes(route.api),
  );
}

/** The model that a body names; only that field of a large body is parsed. */
async function readModel(body: Buffer): Promise<string | undefined> {
  if (body.length === 0) return undefined;
  try {
    if (body.length >= LIFT_FROM_BYTES) {
      const { fields, bytes } = await new Turns().finish(oddFieldSteps(body));
      const range = fields.get("model");
      const name = range && range.to - range.from < LIFT_FROM_BYTES ? parseRange(bytes, range) : undefined;
      return typeof name === "string" ? name : undefined;
    }
    const { model } = JSON.parse(body.toString("utf8"));
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}
