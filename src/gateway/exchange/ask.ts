import { POLICIES } from "../../index.ts";
import type { Api } from "../api/api.ts";
import type { UpstreamConfig } from "../config/config.ts";
import { contextManagementKey, readContextManagement } from "../edits/context-management.ts";
import { policyOfContextManagement } from "../edits/edits-policy.ts";
import type { Asked, Room } from "../thread/asked.ts";
import { leadBytes, leadOf } from "./body-facts.ts";
import type { Destination } from "./destination.ts";
import { FaultError } from "./fault-error.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";

/** What a request asks of its thread. Throws `FaultError` for edits that nobody can carry out. */
export function askedOf(
  api: Api,
  { said, fields }: ReadRequest,
  { upstream, model, clientModel }: Destination,
  { signal }: Pick<Admitted, "signal">,
  parts: Pick<ExchangeParts, "config" | "rooms">,
): Asked {
  const config = parts.config();
  const room = parts.rooms.roomOf(upstream, model, clientModel, config.threshold);
  const isContinued = typeof fields.all.previous_response_id === "string";
  // What cannot be cut into messages, or is only the end of a conversation, is no window of ours.
  const isWhole = said.cut.listFrom !== undefined && said.messages.length > 0 && !isContinued;
  const policyName = isWhole ? (config.routes[api.name]?.policy ?? config.policy) : "none";
  const tools = said.cut.fields.get("tools");
  return {
    api,
    said,
    isContinued,
    signal,
    isDryRun: config.dryRun,
    ...policyFor(api, fields.all.context_management, upstream, policyName, room),
    frame: {
      model,
      maxTokens: fields.maxTokens,
      leadBytes: leadBytes(api, said),
      toolsBytes: tools ? tools.to - tools.from : 0,
      lead: () => leadOf(api, said),
      tools: () => (tools ? said.cut.bytes.toString("utf8", tools.from, tools.to) : ""),
    },
  };
}

/** Who carries out what a client asks for with Anthropic's `context_management`. */
function managedBy({ contextManagement, baseUrl }: UpstreamConfig): "upstream" | "gateway" {
  if (contextManagement) return contextManagement;
  return /^https:\/\/api\.anthropic\.com(?:[:/]|$)/i.test(baseUrl) ? "upstream" : "gateway";
}

function policyFor(
  api: Api,
  management: unknown,
  upstream: UpstreamConfig,
  name: string,
  room: Room,
): Pick<Asked, "policy" | "policyKey" | "edits" | "room"> {
  const base = POLICIES.find((policy) => policy.name === name);
  const read = readContextManagement(management, { api: api.name, by: managedBy(upstream) });
  if (read.type === "fault") throw new FaultError(read.fault);
  if (read.type === "none" || !base || name === "none") return { policy: name, policyKey: name, room };
  const { edits } = read;
  const policy = policyOfContextManagement(edits, base, { api: api.name, windowTokens: room.window });
  // Edits that change nothing are left in the request, where only Anthropic's own API has them.
  if (policy === base)
    return { policy: name, policyKey: name, room, ...(api.name !== "anthropic" && { edits }) };
  // What the client asks for comes first; the policy behind it only guards the limit.
  const whole = { ...room, threshold: room.window };
  return { policy, policyKey: `${name} ${contextManagementKey(edits)}`, edits, room: whole };
}
