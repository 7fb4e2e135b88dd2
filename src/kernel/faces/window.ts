/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export { DEFAULT_THRESHOLD } from "../../model/default-threshold.ts";
export type { Edit, EditInput, EditReason, OverlayTarget, SingleEdit } from "../../model/overlay.ts";
export type { CacheState, Comparison } from "../../model/receipt.ts";
export { type ClearedContent, countClearedContent } from "../../window/compact/cleared-content.ts";
export { type ClientEdits, clientEdits } from "../../window/compact/client-edits.ts";
export { SECTIONS } from "../../window/compact/contract/sections.ts";
export { buildSummaryPrompt, type SummaryPrompt } from "../../window/compact/contract/summary-prompt.ts";
export {
  findEnding,
  listPlainWords,
  matchTrouble,
  readTrouble,
  type Trouble,
  weighWords,
} from "../../window/compact/ended-errors.ts";
export {
  type ExtractedSummary,
  extractCarryOver,
  extractSummary,
} from "../../window/compact/extractive/extract-summary.ts";
export type { SourceMessage } from "../../window/compact/extractive/summary-candidate.ts";
export type { TodoItem } from "../../window/compact/extractive/todo-list.ts";
export { type JudgedSummary, judgeSummary } from "../../window/compact/gate/judge-summary.ts";
export type { SummaryVerdict } from "../../window/compact/gate/summary-verdict.ts";
export { chooseHandBack } from "../../window/compact/hand-back.ts";
export {
  type CompactCommand,
  findCompactCommand,
  parseCompactCommand,
} from "../../window/compact/plan/compaction-source.ts";
export { summarizingPolicy } from "../../window/compact/summarizing-policy.ts";
export { findTroubles, listWorkSteps, type WorkStep } from "../../window/compact/work-steps.ts";
export { diffWindows, type WindowChange } from "../../window/diff-windows.ts";
export { RereadCounter } from "../../window/effects/find-touches.ts";
export { alternateRoles, type FittedMessages, fitConversation } from "../../window/fit-conversation.ts";
export { detectOutputOverflow, detectOverflow, type Overflow } from "../../window/limits/overflow.ts";
export { detectPoison } from "../../window/limits/poison.ts";
export { genaiPrices } from "../../window/models/genai-prices.ts";
export { computeReportCost, computeUsageCost } from "../../window/models/model-catalog.ts";
export type { ModelFacts, Prices } from "../../window/models/model-data.ts";
export { modelFacts } from "../../window/models/model-facts.ts";
export type { ThinkingRule } from "../../window/models/thinking-rule.ts";
export type { ListedOverlay } from "../../window/overlays.ts";
export { POLICIES } from "../../window/policies/known-policies.ts";
export { LONGHAUL_OPTIONS, type LonghaulOptions, longhaul } from "../../window/policies/longhaul.ts";
export type { Moment, Policy, PolicyLimits, PolicyRun, ProviderLimits } from "../../window/policy.ts";
export { countProtocolTokens, PROTOCOL, type Protocol } from "../../window/replay/protocol.ts";
export { type RecordedMessage, toConversation } from "../../window/replay/recorded-message.ts";
export type { Refetch } from "../../window/replay/refetch-estimate.ts";
export {
  type ReplayedRequest,
  type ReplayScore,
  type Retention,
  replay,
} from "../../window/replay/replay-conversation.ts";
export type { PlannedEdit, WindowAdvice, WindowBreakdown } from "../../window/session/fitted-window.ts";
export { ADVICE_SHARE } from "../../window/session/measure-window.ts";
export { revertedOverlays } from "../../window/session/reverts.ts";
export type { WindowOptions } from "../../window/session/session-window-options.ts";
export type { WindowLimits } from "../../window/session/window-limits.ts";
export { MIN_SHRINK_CHARACTERS } from "../../window/shrink/result-shrinker.ts";
export { SHRINK_FILTERS, type ShrinkFilter, type ShrinkOption } from "../../window/shrink/shrink-filters.ts";
export type { Slot } from "../../window/slot.ts";
export { estimateMessage, estimateText, tokensOfMessage } from "../../window/tokens/estimate.ts";
export { loadTokenizer, type Tokenizer, type TokenizerName } from "../../window/tokens/tokenizer.ts";
export { countDroppedThinking, readDroppedThinking } from "../../window/usage/input-changes.ts";
export {
  addReport,
  EMPTY_LEDGER,
  type Ledger,
  type ModelFactsLookup,
  RECENT_REQUESTS,
  type RequestTotals,
  type UsageReport,
} from "../../window/usage/ledger.ts";
export { addSavings, computeSavings, NO_SAVINGS, type Savings } from "../../window/usage/savings.ts";
export { countPromptTokens, isSummaryUsage, isSumUsage, readRetries } from "../../window/usage/usage-meta.ts";
export { addTotals, NO_TOTALS, type Totals } from "../../window/usage/usage-totals.ts";
export type { ProviderFailure } from "../../wire/provider-failure.ts";
export { mergeUsage, parseUsageReport, type ReportingApi } from "../../wire/wires.ts";
export type { SessionAutoCompactOptions, SummaryModel } from "../session/session-windows.ts";
