import { canMergeRoles } from "../../conversation/merge-roles.ts";
import type { WireName, WireObject } from "../../wire/wire.ts";
import type { Violation } from "./violation.ts";

/** Elements that repeat the role of the previous one; strict chat templates refuse them. */
export function findRepeatedRoles(api: WireName, elements: readonly WireObject[]): readonly Violation[] {
  return elements.flatMap((own, element): readonly Violation[] => {
    const previous = elements[element - 1];
    return previous && canMergeRoles(api, previous, own) ? [{ rule: "roles-repeat", element }] : [];
  });
}

/** Repeated roles in an edited request of a client whose own request alternated. */
export function findNewRepeatedRoles(
  api: WireName,
  before: readonly WireObject[],
  after: readonly WireObject[],
): readonly Violation[] {
  const found = findRepeatedRoles(api, after);
  return found.length === 0 || findRepeatedRoles(api, before).length > 0 ? [] : found;
}
