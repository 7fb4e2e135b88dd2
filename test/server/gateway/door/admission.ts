import { admit } from "../../../../src/server/gateway/door/admit.ts";
import type { Principal } from "../../../../src/server/gateway/door/principal.ts";
import type { DoorConfig, RequestHead } from "../../../../src/server/gateway/door/request-head.ts";
import { doorConfig } from "./door-config.ts";

export const TOKEN = "t0ken-Aq7Zk2Wm9Xc4Vb1Nn8Ll";
export const OTHER_TOKEN = "0ther-Aq7Zk2Wm9Xc4Vb1Nn8Ll";
export const environment = { GATEWAY_TOKEN: TOKEN };
export const withToken = () => doorConfig({ tokens: [{ name: "team", env: "GATEWAY_TOKEN" }] });

/** The status that a request gets; 200 if it is admitted. */
export function statusOf(request: RequestHead, config: DoorConfig = doorConfig()): number {
  const admission = admit(request, config, environment);
  if (admission.type === "refused") return admission.fault.status;
  return admission.type === "admitted" ? 200 : 204;
}

/** The principal of an admitted request. */
export function principalOf(request: RequestHead, config: DoorConfig = doorConfig()): Principal {
  const admission = admit(request, config, environment);
  if (admission.type !== "admitted") throw new Error(JSON.stringify(admission));
  return admission.principal;
}
