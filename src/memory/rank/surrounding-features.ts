import { computeOwnScore, type FeatureColumns, scaleToOne } from "./feature-list.ts";
import type { Query } from "./query.ts";
import { computeOkapi, type TermMatch } from "./term-match.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

/** Neighbors matter most for a short turn; at this many terms, half as much. */
const SHORT_TURN = 18;
const SESSION_SHAPE = { saturation: 1.5, lengthShare: 0.75 };
/** More than the turns of any session, so that session and position form one number. */
const MAX_POSITIONS = 2 ** 26;

/** Scores a session by the words of all its candidates together and by its three best candidates. */
export function fillSessionFeatures(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  query: Query,
  { statistics }: RankContext,
): void {
  const members = new Map<number, number[]>();
  for (const [index, { session }] of candidates.entries()) {
    const list = members.get(session);
    if (list) list.push(index);
    else members.set(session, [index]);
  }
  if (members.size < 2) return;
  for (const [session, indexes] of members) {
    const length = statistics.sessionLengthOf(session) / statistics.averageSessionLength;
    let words = 0;
    for (const [place, rarity] of query.rarities.entries()) {
      let count = 0;
      for (const index of indexes) count += matches[index]?.counts[place] ?? 0;
      if (count > 0) words += rarity * computeOkapi(count, length, SESSION_SHAPE);
    }
    const best = indexes.map((index) => computeOwnScore(features, index)).sort((left, right) => right - left);
    const top = (best[0] ?? 0) + (best[1] ?? 0) + (best[2] ?? 0);
    for (const index of indexes) {
      features.session[index] = words;
      features.sessionTop[index] = top;
    }
  }
  scaleToOne(features.session);
  scaleToOne(features.sessionTop);
}

/**
 * Scores neighbors: a question supports the short answer after it, and in an exchange each side counts for the other.
 */
export function fillNeighborFeatures(features: FeatureColumns, candidates: readonly TurnCandidate[]): void {
  const keyOf = (session: number, position: number) => session * MAX_POSITIONS + position;
  const places = new Map(candidates.map(({ session, position }, index) => [keyOf(session, position), index]));
  const scoreAt = (session: number, position: number): number => {
    const index = position < 0 ? undefined : places.get(keyOf(session, position));
    return index === undefined ? 0 : computeOwnScore(features, index);
  };
  for (const [index, { session, position, length, author, speaker }] of candidates.entries()) {
    const share = SHORT_TURN / (SHORT_TURN + length);
    const before = scoreAt(session, position - 1);
    const after = scoreAt(session, position + 1);
    features.before[index] = share * before;
    features.partner[index] =
      speaker !== null ? 0 : author === "user" ? after : author === "assistant" ? before : 0;
  }
}
