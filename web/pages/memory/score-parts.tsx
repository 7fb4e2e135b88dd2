import { formatDecimal } from "../../format/decimal.ts";
import { memoryText as text } from "./memory-text.ts";

const EXPLAINED = {
  words: ["partWords", "partWordsHint"],
  meaning: ["partMeaning", "partMeaningHint"],
  session: ["partSession", "partSessionHint"],
  neighbours: ["partNeighbors", "partNeighborsHint"],
  work: ["partWork", "partWorkHint"],
  speaker: ["partSpeaker", "partSpeakerHint"],
  time: ["partTime", "partTimeHint"],
  kind: ["partKind", "partKindHint"],
  recency: ["partRecency", "partRecencyHint"],
  reading: ["partReading", "partReadingHint"],
  definitions: ["partDefinitions", "partDefinitionsHint"],
  path: ["partPath", "partPathHint"],
  history: ["partHistory", "partHistoryHint"],
} as const;

interface ScorePartsProps {
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
  readonly similarity: number | null;
}

/** The score of a hit: its strongest parts in one line, and all of them with their reasons when opened. */
export function ScoreParts({ score, parts, similarity }: ScorePartsProps) {
  const rows = Object.entries(parts)
    .filter(([, value]) => Math.abs(value) >= 0.005)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  const most = Math.max(1e-9, ...rows.map(([, value]) => Math.abs(value)));
  const sum = rows.reduce((all, [, value]) => all + value, 0);
  return (
    <details class="score">
      <summary>
        <span class="score-total number" title={text("scoreHint")}>
          {formatDecimal(score)}
        </span>
        <span class="dim">
          {rows
            .slice(0, 3)
            .map(([name, value]) => `${nameOf(name)} ${formatDecimal(value, true)}`)
            .join(" · ")}
        </span>
      </summary>
      <table class="score-table">
        <caption class="hidden">{text("scoreParts")}</caption>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                {nameOf(name)} <span class="score-hint">{hintOf(name)}</span>
              </th>
              <td class="score-bar">
                <svg viewBox="-100 0 200 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    class={value < 0 ? "part-6" : "part-1"}
                    x={value < 0 ? (100 * value) / most : 0}
                    width={(100 * Math.abs(value)) / most}
                    height="8"
                  />
                </svg>
              </td>
              <td class="number">{formatDecimal(value, true)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">
              {text("sum")}{" "}
              <span class="score-hint">{Math.abs(sum - score) >= 0.005 && text("scaledHint")}</span>
            </th>
            <td />
            <td class="number">{formatDecimal(sum, true)}</td>
          </tr>
          <tr>
            <th scope="row">{text("similarity")}</th>
            <td />
            <td class="number">{formatDecimal(similarity)}</td>
          </tr>
        </tfoot>
      </table>
    </details>
  );
}

const isExplained = (name: string): name is keyof typeof EXPLAINED => Object.hasOwn(EXPLAINED, name);
const nameOf = (name: string) => (isExplained(name) ? text(EXPLAINED[name][0]) : name);
const hintOf = (name: string) => (isExplained(name) ? text(EXPLAINED[name][1]) : "");
