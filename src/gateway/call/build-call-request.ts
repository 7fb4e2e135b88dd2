import { POLICIES } from "../../window-entry.ts";
import type { Wire } from "../../wire/wire.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import { leadRanges, readLead } from "../request/body-facts.ts";
import type { ByteRange } from "../request/byte-range.ts";
import { isChained } from "../request/chain.ts";
import { buildEditsKey, readContextManagement } from "../request/context-management.ts";
import { getContextManager } from "../request/context-manager.ts";
import { estimateBytes } from "../request/estimate-bytes.ts";
import { findCompactions } from "../request/find-compactions.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { CallRequest, FrameText, TokenLimits } from "../thread/call-request.ts";
import type { Target } from "../upstream/target.ts";
import { buildEditsPolicy } from "./edits-policy.ts";
import { createLatePolicy } from "./late-policy.ts";
import type { ModelLimits } from "./model-limits.ts";

/** Services for calls. */
export interface CallServices {
  readonly config: () => GatewayConfig;
  readonly modelLimits: ModelLimits;
}

/** Builds the request to a thread. Throws `FaultError` for edits that cannot be carried out. */
export function buildCallRequest(
  { api, messages, fields }: ParsedRequest,
  target: Target,
  { signal }: Pick<Incoming, "signal">,
  services: CallServices,
): CallRequest {
  const { upstream, model } = target;
  const config = services.config();
  const limits = services.modelLimits.getLimits(target, config.threshold);
  const isMore = isChained(api, fields.all);
  const compactions = api.name === "anthropic" ? findCompactions(messages.cut) : undefined;
  const isManagedHere = getContextManager(upstream) === "gateway";
  // A body that cannot be split into messages has no window to manage.
  const isWhole = isMore || (messages.cut.listFrom !== undefined && messages.list.length > 0);
  // Neither has one whose beginning the upstream has summarized itself and does not count.
  const isOurs = isWhole && (isManagedHere || !compactions?.last);
  const policyName = isOurs ? (config.routes[api.name]?.policy ?? config.policy) : "none";
  const isCompacted = compactions && isManagedHere && policyName !== "none" && !config.dryRun;
  // Only the upstream can clear content that it stores.
  const { context_management } = fields.all;
  const management = choosePolicy(
    api,
    context_management,
    upstream,
    isMore ? "none" : policyName,
    limits,
    config.when,
  );
  const lead = leadRanges(api, messages);
  const tools = messages.cut.fields.get("tools");
  return {
    api,
    messages,
    signal,
    isDryRun: config.dryRun,
    isPaging: config.paging,
    shrink: config.shrink,
    ...management,
    ...(isMore && { policy: policyName, policyKey: policyName }),
    ...(isCompacted && { compactions }),
    frame: {
      model,
      maxTokens: fields.maxTokens,
      leadBytes: lead.reduce((sum, { from, to }) => sum + to - from, 0),
      toolsBytes: tools ? tools.to - tools.from : 0,
      readLead: () => estimateLargeLead(messages.cut.bytes, lead) ?? readLead(api, messages),
      readTools: () => (tools ? textOrTokens(messages.cut.bytes.subarray(tools.from, tools.to)) : ""),
    },
  };
}

function textOrTokens(bytes: Buffer): FrameText {
  return bytes.length < LIFT_FROM_BYTES ? bytes.toString("utf8") : estimateBytes(bytes);
}

/** Estimated tokens of a system prompt that is too large to be parsed whole; undefined for any other. */
function estimateLargeLead(bytes: Buffer, ranges: readonly ByteRange[]): number | undefined {
  if (ranges.every(({ from, to }) => to - from < LIFT_FROM_BYTES)) return undefined;
  return ranges.reduce((sum, { from, to }) => sum + estimateBytes(bytes.subarray(from, to)), 0);
}

function choosePolicy(
  api: Wire,
  management: unknown,
  upstream: UpstreamConfig,
  name: string,
  limits: TokenLimits,
  when: GatewayConfig["when"],
): Pick<CallRequest, "policy" | "policyKey" | "edits" | "limits"> {
  const base = POLICIES.find((policy) => policy.name === name);
  const read = readContextManagement(management, { api: api.name, by: getContextManager(upstream) });
  if (read.type === "fault") throw new FaultError(read.fault);
  const isLate = base !== undefined && name !== "none" && when === "late";
  const plain = isLate
    ? { policy: createLatePolicy(base), policyKey: `${name} late`, limits }
    : { policy: name, policyKey: name, limits };
  if (read.type === "none" || !base || name === "none") return plain;
  const { edits } = read;
  const policy = buildEditsPolicy(edits, base, { api: api.name, windowTokens: limits.window });
  // Edits without effect stay in the request, where only Anthropic's own API supports them.
  if (policy === base) return { ...plain, ...(api.name !== "anthropic" && { edits }) };
  // The client's edits come first; the policy after them only enforces the limit.
  const whole = { ...limits, threshold: limits.window };
  return { policy, policyKey: `${name} ${buildEditsKey(edits)}`, edits, limits: whole };
}
