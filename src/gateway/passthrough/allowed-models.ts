import type { WireObject } from "../../wire/wire.ts";
import { mayUseModel } from "../upstream/check-target.ts";

/** The lists of models in the bodies of providers, and the fields that name a model in them. */
const LIST_FIELDS = ["data", "models"];
const NAME_FIELDS = ["id", "slug", "name", "model"];

/**
 * A provider's list of models without those that a person may not use; undefined if nothing is removed or the body is
 * no list. A body with more pages keeps the cursors of the provider, which name the place where the next page begins.
 */
export function filterModelList(
  text: string,
  allowed: readonly string[],
  prefix: string,
): string | undefined {
  let body: WireObject;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const field = LIST_FIELDS.find((name) => Array.isArray(Object(body)[name]));
  if (field === undefined) return undefined;
  const all = body[field] as readonly unknown[];
  const kept = all.filter((model) => isAllowed(model, allowed, prefix));
  if (kept.length === all.length) return undefined;
  const cursors = "first_id" in body && body.has_more !== true ? findCursors(kept) : {};
  return JSON.stringify({ ...body, [field]: kept, ...cursors });
}

/** The ids of the first and the last model of a list, in the form of Anthropic. */
export function findCursors(models: readonly unknown[]) {
  const idOf = (model: unknown) => Object(model).id ?? null;
  return { first_id: idOf(models[0]), last_id: idOf(models.at(-1)) };
}

/** A model without a name of a known form cannot be asked for by name either. */
function isAllowed(model: unknown, allowed: readonly string[], prefix: string): boolean {
  const name = NAME_FIELDS.map((field) => Object(model)[field]).find((value) => typeof value === "string");
  if (name === undefined) return false;
  const plain = name.replace(/^models\//, "");
  return mayUseModel(allowed, [name, plain, `${prefix}${plain}`]);
}
