/** A request may settle this long after its reservation lapsed. */
export const LAPSED_KEPT_MS = 86_400_000;
