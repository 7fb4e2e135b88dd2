import { matchesName } from "../../team-entry.ts";
import type { Principal } from "../door/principal.ts";
import { FaultError } from "../fault-error.ts";

/** The destination of a request; the model is undefined if the request names none. */
interface WantedTarget {
  readonly upstream: { readonly name: string; readonly prefix?: string | undefined };
  readonly model: string | undefined;
  readonly clientModel: string | undefined;
}

/** Throws `FaultError` if the person may not use the upstream, the model, or one that a request names in another field. */
export function checkTargetAllowed(
  principal: Principal,
  target: WantedTarget,
  findNamed: () => readonly string[] = () => [],
): void {
  checkUpstreamAllowed(principal, target.upstream);
  const { name, models } = principal.person ?? {};
  if (!models) return;
  const { upstream, model, clientModel } = target;
  const names = [model, clientModel].filter((one) => one !== undefined);
  if (!mayUseModel(models, names))
    throw createForbiddenFault(`${name} may not use ${describeModel(clientModel)}`, models);
  for (const named of findNamed())
    if (!names.includes(named) && !mayUseModel(models, [named, `${upstream.prefix ?? ""}${named}`]))
      throw createForbiddenFault(`${name} may not use ${describeModel(named)}`, models);
}

/** Throws `FaultError` if the person may not use the upstream. */
export function checkUpstreamAllowed({ person }: Principal, { name }: WantedTarget["upstream"]): void {
  if (person?.upstreams && !person.upstreams.includes(name))
    throw createForbiddenFault(`${person.name} may not use the upstream ${name}`, person.upstreams);
}

/** True if one of a model's names is allowed. */
export function mayUseModel(allowed: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => allowed.some((pattern) => matchesName(pattern, name)));
}

function describeModel(model: string | undefined): string {
  if (model === undefined) return "a request without a model";
  return /^[\w.:/@-]{1,100}$/.test(model) ? `the model ${model}` : "that model";
}

function createForbiddenFault(reason: string, allowed: readonly string[]): FaultError {
  const list = allowed.join(", ") || "none";
  return new FaultError({
    status: 403,
    kind: "forbidden",
    message: `${reason}; allowed: ${list}. An admin can change that (longhaul token set).`,
  });
}
