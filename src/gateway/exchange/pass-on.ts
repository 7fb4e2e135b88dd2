import { Turns } from "../../base/turns.ts";
import { BodyError, cutBody, oddFieldSteps, parsed } from "../body/cut.ts";
import { LIFT_FROM_BYTES } from "../body/lift.ts";
import { chooseUpstream } from "../upstream/choose-upstream.ts";
import { countTokens } from "./count-tokens.ts";
import { destinationOf } from "./destination.ts";
import { FaultError } from "./fault-error.ts";
import { listModels } from "./list-models.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { checkEndpoint, checkReadable, checkReferences } from "./own-things.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { passThrough } from "./pass-through.ts";

/** Handles endpoints without a conversation; the model that a request names, if any, decides the upstream. */
export async function passOn(admitted: Admitted, parts: ExchangeParts): Promise<void> {
  const { route, body } = admitted;
  if (route.type === "models") return listModels(admitted, parts);
  if (route.type === "api") {
    const destination = destinationOf(route.api, await modelIn(body), parts, admitted);
    await checkReferences(admitted, parts, destination.upstream);
    return countTokens(admitted, parts, destination);
  }
  await passAsItCame(admitted, parts);
}

/** Forwards a request unchanged, except for the model's name. */
export async function passAsItCame(admitted: Admitted, parts: ExchangeParts): Promise<void> {
  const { route, body } = admitted;
  const clientModel = await modelIn(body);
  const chosen = chooseUpstream(parts.config().upstreams, { api: route.api, model: clientModel });
  if (chosen.fault) throw new FaultError(chosen.fault);
  const { upstream, model = clientModel } = chosen;
  if (route.type === "pass") await checkEndpoint(admitted, parts, upstream);
  else checkReadable(admitted, parts, upstream);
  await passThrough(admitted, parts, upstream, model === clientModel ? undefined : withModel(body, model));
}

/** A body with another model name and no other change; undefined if the field cannot be located. */
function withModel(body: Buffer, model: string | undefined): readonly Uint8Array[] | undefined {
  try {
    return outgoingBody(
      { cut: cutBody(body, "") },
      { pieces: undefined, fields: new Map([["model", model]]) },
    );
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

/** The model that a body names; only that field of a large body is parsed. */
async function modelIn(body: Buffer): Promise<string | undefined> {
  if (body.length === 0) return undefined;
  try {
    if (body.length >= LIFT_FROM_BYTES) {
      const { fields, bytes } = await new Turns().finish(oddFieldSteps(body));
      const range = fields.get("model");
      const name = range && range.to - range.from < LIFT_FROM_BYTES ? parsed(bytes, range) : undefined;
      return typeof name === "string" ? name : undefined;
    }
    const { model } = JSON.parse(body.toString("utf8"));
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}
