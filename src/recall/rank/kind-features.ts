import { foldText } from "../text/fold-text.ts";
import { TRAIT } from "../text/traits.ts";
import type { FeatureColumns } from "./feature-list.ts";
import type { Query } from "./query.ts";
import { scoreTimeMatch } from "./time-window.ts";
import type { TurnCandidate } from "./turn-candidate.ts";

/** Fills the features that depend on the author, the time and the traits of a candidate. */
export function fillKindFeatures(
  features: FeatureColumns,
  index: number,
  candidate: TurnCandidate,
  { intent, speakers, windows }: Query,
): void {
  const traits = candidate.chunks.reduce((bits, chunk) => bits | chunk.traits, 0);
  const has = (bit: number, when = true) => (when && (traits & bit) !== 0 ? 1 : 0);
  const isNamed = candidate.speaker !== null;
  // A question that names a person is not about the user.
  const isUser = candidate.author === "user" && !isNamed && speakers.length === 0;
  const wantsUser = isUser && !intent.aboutAssistant;
  features.speaker[index] = scoreSpeaker(candidate.speaker, speakers);
  features.userTurn[index] = wantsUser && !intent.recap ? 1 : 0;
  features.userAsked[index] = wantsUser && intent.aboutUser && !intent.recap ? 1 : 0;
  features.assistantAsked[index] =
    intent.aboutAssistant && candidate.author === "assistant" && !isNamed ? 1 : 0;
  features.time[index] =
    candidate.atMs === null || windows.length === 0 ? 0 : scoreTimeMatch(windows, candidate.atMs);
  features.numberAsked[index] = has(TRAIT.number, intent.number);
  features.moneyAsked[index] = has(TRAIT.money, intent.money);
  features.timeAsked[index] = has(TRAIT.time, intent.time);
  features.nameAsked[index] = has(TRAIT.name, intent.name);
  features.eventAsked[index] = has(TRAIT.event, intent.past && !intent.aboutAssistant);
  features.personal[index] = has(TRAIT.personal, wantsUser);
  features.rule[index] = has(TRAIT.rule, isUser && !intent.survey);
  features.ruleRequested[index] = has(TRAIT.rule, isUser && intent.request);
  features.preferenceRequested[index] = has(TRAIT.preference, isUser && intent.request);
  features.asking[index] = has(TRAIT.question);
  features.code[index] = has(TRAIT.code);
  // Long turns mention everything; but replies of an assistant, and material for a summary, are in long turns.
  features.length[index] = intent.aboutAssistant || intent.recap ? 0 : Math.log1p(candidate.length) / 5;
}

/** A question that names one speaker is about that speaker's turns; one that names several or none is neutral. */
function scoreSpeaker(speaker: string | null, named: readonly string[]): number {
  if (speaker === null) return 0;
  if (named.length !== 1) return 0.5;
  return foldText(speaker) === named[0] ? 1 : 0;
}
