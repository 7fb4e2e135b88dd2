import { Turns } from "../../base/turns.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { FaultError } from "../fault-error.ts";
import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { BodyError, cutBody, oddFieldSteps, parseRange } from "../request/cut-body.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import { checkBodyReadable, checkEndpointAccess, checkReferenceAccess } from "../upstream/check-ownership.ts";
import { chooseUpstream } from "../upstream/choose-upstream.ts";
import { chooseModelTarget } from "../upstream/target.ts";
import { countTokens } from "./count-tokens.ts";
import { listModels } from "./list-models.ts";
import { passThrough } from "./pass-through.ts";

/** Handles endpoints without a conversation; the model that a request names, if any, decides the upstream. */
export async function forwardRequest(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  if (route.type === "models") return listModels(incoming, services);
  if (route.type === "api") {
    const target = chooseModelTarget(await readModel(body), incoming, services);
    await checkReferenceAccess(incoming, services, target.upstream);
    return countTokens(incoming, services, target);
  }
  await forwardUnchanged(incoming, services);
}

/** Forwards a request unchanged, except for the model's name. */
export async function forwardUnchanged(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  const clientModel = await readModel(body);
  const chosen = chooseUpstream(services.config().upstreams, { api: route.api, model: clientModel });
  if (chosen.fault) throw new FaultError(chosen.fault);
  const { upstream, model = clientModel } = chosen;
  if (route.type === "pass") await checkEndpointAccess(incoming, services, upstream);
  else checkBodyReadable(incoming, services, upstream);
  await passThrough(
    incoming,
    services,
    upstream,
    model === clientModel ? undefined : replaceModel(body, model),
  );
}

/** A body with another model name and no other change; undefined if the field cannot be located. */
function replaceModel(body: Buffer, model: string | undefined): readonly Uint8Array[] | undefined {
  try {
    return buildOutgoingBody(
      { cut: cutBody(body, "") },
      { pieces: undefined, fields: new Map([["model", model]]) },
    );
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
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
