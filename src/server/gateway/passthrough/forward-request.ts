import { Turns } from "../../../model/base/turns.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { WireName } from "../../../wire/wire.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { oddFieldSteps, parseRange } from "../request/cut-body.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import { collectModels } from "../request/stream-usage.ts";
import { checkBodyReadable, checkEndpointAccess, checkReferenceAccess } from "../upstream/check-ownership.ts";
import {
  checkTargetAllowed,
  checkUpstreamAllowed,
  chooseModelTarget,
  chooseUpstream,
  findBoundUpstreams,
} from "../upstream/target.ts";
import { compactResponses } from "./compact-responses.ts";
import { countTokens } from "./count-tokens.ts";
import { listModels } from "./list-models.ts";
import { passThrough, replaceModel } from "./pass-through.ts";

/** Handles endpoints without a conversation; the model that a request names, if any, decides the upstream. */
export async function forwardRequest(incoming: Incoming, services: Services): Promise<void> {
  const { route, body } = incoming;
  if (route.type === "models") return listModels(incoming, services);
  if (route.type === "api" && route.action === "compact") {
    if (await compactResponses(incoming, services)) return;
  } else if (route.type === "api") {
    const { model, others } = await readModels(body);
    const target = chooseModelTarget(route.model ?? model, incoming, services);
    checkTargetAllowed(incoming.principal, target, () => others);
    await checkReferenceAccess(incoming, services, target.upstream);
    return countTokens(incoming, services, target);
  }
  await forwardUnchanged(incoming, services);
}

/** Forwards a request unchanged, except for the model's name; `isRead` if its fields and references were checked before. */
export async function forwardUnchanged(
  incoming: Incoming,
  services: Services,
  isRead = false,
): Promise<void> {
  const { route, body, principal } = incoming;
  const isNeeded = await isModelNeeded(incoming, services);
  const named = isNeeded ? await readModels(body) : { model: undefined, others: [] };
  const asked = route.type === "pass" ? getModelPath(route.api).exec(route.path)?.[1] : undefined;
  const clientModel = asked === undefined ? named.model : decodeSegment(asked);
  const chosen = chooseUpstream(findBoundUpstreams(services.config().upstreams, route), {
    api: route.api,
    model: clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  const { upstream, model = clientModel } = chosen;
  const isReading = incoming.request.method === "GET" || incoming.request.method === "HEAD";
  if (isReading && asked === undefined) checkUpstreamAllowed(principal, upstream);
  else checkTargetAllowed(principal, { upstream, model, clientModel }, () => named.others);
  if (!isReading) {
    const models = [model ?? "", ...named.others];
    await incoming.spending.checkUnmeasured({ project: undefined, models });
  }
  if (route.type === "pass") await checkEndpointAccess(incoming, services, upstream);
  else if (!isRead) checkBodyReadable(incoming, services, upstream);
  const isRenamed = asked === undefined && model !== clientModel;
  await passThrough(incoming, services, upstream, isRenamed ? replaceModel(body, model) : undefined);
}

/** True if the model decides anything: the upstream, or the rights and budgets of a person. */
async function isModelNeeded(
  { principal, route }: Incoming,
  { config, spending }: Services,
): Promise<boolean> {
  if (principal.person || (await spending.state.isInUse())) return true;
  return config().upstreams.some(
    ({ apis, prefix, models }) => (prefix || models) && apis.includes(route.api),
  );
}

/** The endpoint that describes one model, and all of Google's that name one. */
const MODEL_PATH = /^\/models\/(.+)$/;
const GOOGLE_MODEL_PATH = /\/(?:models|tunedModels)\/([^/:]+)/;

function getModelPath(api: WireName): RegExp {
  return api === "google" ? GOOGLE_MODEL_PATH : MODEL_PATH;
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface NamedModels {
  readonly model: string | undefined;
  /** Models in other fields. */
  readonly others: readonly string[];
}

/** The models that a body names; only the short fields of a large body are parsed. */
async function readModels(body: Buffer): Promise<NamedModels> {
  const found = new Set<string>();
  let model: unknown;
  try {
    if (body.length >= LIFT_FROM_BYTES) {
      const { fields, bytes } = await new Turns().finish(oddFieldSteps(body));
      for (const [name, range] of fields) {
        if (range.to - range.from >= LIFT_FROM_BYTES) continue;
        const value = parseRange(bytes, range);
        if (name === "model") model = value;
        collectModels({ [name]: value }, found);
      }
    } else if (body.length > 0) {
      const value = JSON.parse(body.toString("utf8"));
      model = Object(value).model;
      collectModels(value, found);
    }
  } catch {
    // A body without readable fields names no model.
  }
  if (typeof model !== "string") return { model: undefined, others: [...found] };
  found.delete(model);
  return { model, others: [...found] };
}
