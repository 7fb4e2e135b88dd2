import { getWire, WIRES } from "../../wire/wires.ts";
import type { Api, ApiName } from "./api.ts";

/** All supported APIs. */
export const APIS: readonly Api[] = WIRES;

export function getApi(name: ApiName): Api {
  return getWire(name);
}
