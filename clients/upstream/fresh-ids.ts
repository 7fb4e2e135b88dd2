import type { WireApi } from "../../test/support/wire-server/api.ts";

/** The fixed ids in the wire server's replies. */
const STANDING = /"(?:msg_01|chatcmpl-|resp_)\w+"|"msg_1"|"rs_1"/g;

/** The API with a unique id per reply, because some agents treat replies with the same id as one. */
export function withFreshIds(api: WireApi, number: number): WireApi {
  const rename = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value).replace(
        STANDING,
        (id) => `${id.slice(0, -1)}${String(number).padStart(4, "0")}"`,
      ),
    ) as T;
  return {
    ...api,
    body: (reply, request) => rename(api.body(reply, request)),
    events: (reply, request) => api.events(reply, request).map(rename),
  };
}
