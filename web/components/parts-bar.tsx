import { formatCount, formatShare, formatShort } from "../format/number.ts";

/** A part of a bar. */
export interface BarPart {
  readonly name: string;
  readonly value: number;
  /** A number from 1 to 8 chooses the color; 0 is the color of free room. */
  readonly color: number;
}

interface PartsBarProps {
  readonly label: string;
  readonly parts: readonly BarPart[];
  /** The whole; the sum of the parts if absent. */
  readonly total?: number | undefined;
  /** Shows the names and values of the parts below. */
  readonly hasLegend?: boolean;
}

/** A bar whose parts have the lengths of their values. */
export function PartsBar({ label, parts, total, hasLegend = false }: PartsBarProps) {
  const shown = parts.filter(({ value }) => value > 0);
  const sum = shown.reduce((all, { value }) => all + value, 0);
  const whole = Math.max(total ?? sum, sum, 1);
  const text = `${label}: ${shown.map(({ name, value }) => `${name} ${formatCount(value)}`).join(", ")}`;
  return (
    <div class="parts">
      <svg class="parts-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
        <rect class="part-0" width="1000" height="10" />
        {placeParts(shown, whole).map(({ part, from, width }) => (
          <rect key={part.name} class={`part-${part.color}`} x={from} width={width} height="10">
            <title>{`${part.name}: ${formatCount(part.value)} (${formatShare(part.value / whole, 1)})`}</title>
          </rect>
        ))}
      </svg>
      {hasLegend && (
        <ul class="legend">
          {shown.map(({ name, value, color }) => (
            <li key={name}>
              <i class={`dot part-${color}`} />
              {name} <span class="number">{formatShort(value)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function placeParts(parts: readonly BarPart[], whole: number) {
  let from = 0;
  return parts.map((part) => {
    const width = (1_000 * part.value) / whole;
    const placed = { part, from, width };
    from += width;
    return placed;
  });
}
