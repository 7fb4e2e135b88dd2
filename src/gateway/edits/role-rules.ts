import { canMergeRoles } from "../../formats/writing/merge-roles.ts";
import type { ApiName, JsonObject } from "../api/api.ts";
import type { Violation } from "./violation.ts";

/** Elements that repeat the role of the previous one; strict chat templates refuse them. */
export function repeatedRoles(api: ApiName, elements: readonly JsonObject[]): readonly Violation[] {
  return elements.flatMap((own, element): readonly Violation[] => {
    const previous = elements[element - 1];
    return previous && canMergeRoles(api, previous, own) ? [{ rule: "roles-repeat", element }] : [];
  });
}

/** Repeated roles in an edited request of a client whose own request alternated. */
export function newRepeatedRoles(
  api: ApiName,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): readonly Violation[] {
  const found = repeatedRoles(api, after);
  return found.length === 0 || repeatedRoles(api, before).length > 0 ? [] : found;
}
