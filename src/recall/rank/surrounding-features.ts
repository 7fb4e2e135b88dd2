import { computeOwnScore, type FeatureColumns, scaleToOne } from "./feature-list.ts";
import type { Query } from "./query.ts";
import { computeOkapi, type TermMatch } from "./term-match.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

/** Neighbors matter most for a short turn; at this many terms, half as much. */
const SHORT_TURN = 18;
const SESSION_SHAPE = { saturation: 1.5, lengthShare: 0.75 };
/** An answer says less by itself the shorter it is; at this many terms, the question before it counts half as much. */
const SHORT_ANSWER = 30;
/** The turns whose words are the context of a turn, to which its "it" and "there" refer. */
const CONTEXT = [-2, -1, 1];
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
  const size = query.rarities.length;
  const total = new Float64Array(size);
  for (const [session, indexes] of members) {
    const length = statistics.sessionLengthOf(session) / statistics.averageSessionLength;
    let words = 0;
    total.fill(0);
    for (const index of indexes) {
      const counts = matches[index]?.counts;
      if (counts)
        for (let place = 0; place < size; place++)
          total[place] = (total[place] as number) + (counts[place] as number);
    }
    for (let place = 0; place < size; place++) {
      const count = total[place] as number;
      if (count > 0) words += (query.rarities[place] as number) * computeOkapi(count, length, SESSION_SHAPE);
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
 * Scores neighbors: a question supports the short answer after it, in an exchange each side counts for the other, and
 * words of the question that only the turns around contain count as context.
 */
export function fillNeighborFeatures(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  { rarities }: Query,
): void {
  const keyOf = (session: number, position: number) => session * MAX_POSITIONS + position;
  const places = new Map(candidates.map(({ session, position }, index) => [keyOf(session, position), index]));
  const weight = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1;
  for (const [index, { session, position, length, author, speaker }] of candidates.entries()) {
    const findTurn = (distance: number): number | undefined =>
      position + distance < 0 ? undefined : places.get(keyOf(session, position + distance));
    const scoreOf = (turn: number | undefined) => (turn === undefined ? 0 : computeOwnScore(features, turn));
    const previous = findTurn(-1);
    const before = scoreOf(previous);
    features.before[index] = (SHORT_TURN / (SHORT_TURN + length)) * before;
    features.partner[index] =
      speaker !== null ? 0 : author === "user" ? scoreOf(findTurn(1)) : author === "assistant" ? before : 0;
    if (previous !== undefined && features.asking[previous] === 1)
      features.answer[index] = (SHORT_ANSWER / (SHORT_ANSWER + length)) * before;
    const around = CONTEXT.flatMap((distance) => matches[findTurn(distance) ?? -1]?.counts ?? []);
    const own = matches[index]?.counts;
    if (around.length === 0 || !own) continue;
    let added = 0;
    for (let place = 0; place < rarities.length; place++) {
      if (own[place] !== 0) continue;
      for (const counts of around) {
        if (counts[place] === 0) continue;
        added += rarities[place] as number;
        break;
      }
    }
    features.context[index] = added / weight;
  }
}
