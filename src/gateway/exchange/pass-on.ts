import { BodyError, cutBody } from "../body/cut.ts";
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
    const destination = destinationOf(route.api, modelIn(body), parts, admitted);
    await checkReferences(admitted, parts, destination.upstream);
    return countTokens(admitted, parts, destination);
  }
  await passAsItCame(admitted, parts);
}

/** Forwards a request unchanged, except for the model's name. */
export async function passAsItCame(admitted: Admitted, parts: ExchangeParts): Promise<void> {
  const { route, body } = admitted;
  const clientModel = modelIn(body);
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

function modelIn(body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  try {
    const { model } = JSON.parse(body.toString("utf8"));
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}
