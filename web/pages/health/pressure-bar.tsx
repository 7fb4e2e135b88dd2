import { formatBytes, formatShare } from "../../format/number.ts";
import { healthText as text } from "./health-text.ts";
import type { History, Point } from "./use-history.ts";

const LEVELS = { normal: "levelNormal", warning: "levelWarning", critical: "levelCritical" } as const;
const CLASSES = { normal: "good", warning: "warm", critical: "bad" } as const;

/** Memory in use against the limits that it is judged by. */
export function PressureBar({ history, last }: { readonly history: History; readonly last: Point }) {
  const { warningBytes, criticalBytes } = history;
  const whole = Math.max(criticalBytes * 1.1, last.usedBytes);
  const at = (bytes: number) => (1_000 * bytes) / whole;
  const label = text("pressureLabel", {
    used: formatBytes(last.usedBytes),
    warning: formatBytes(warningBytes),
    critical: formatBytes(criticalBytes),
  });
  return (
    <section class="pressure card" id="pressure">
      <p class="pressure-head">
        <strong class={CLASSES[last.level]}>{text(LEVELS[last.level])}</strong>
        <span class="number">
          {formatBytes(last.usedBytes)}{" "}
          <span class="dim">{text("ofWarning", { share: formatShare(last.usedBytes / warningBytes) })}</span>
        </span>
      </p>
      <svg
        class="pressure-bar"
        viewBox="0 0 1000 14"
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <rect class="part-0" y="3" width="1000" height="8" />
        <rect class={`pressure-${last.level}`} y="3" width={at(last.usedBytes)} height="8" />
        <rect class="tick-warning" x={at(warningBytes)} width="2" height="14" />
        <rect class="tick-critical" x={at(criticalBytes)} width="2" height="14" />
      </svg>
      <p class="legend">
        <span>
          <i class="dot dot-warning" />
          {text("warningFrom")} <span class="number">{formatBytes(warningBytes)}</span>
        </span>
        <span>
          <i class="dot dot-critical" />
          {text("criticalFrom")} <span class="number">{formatBytes(criticalBytes)}</span>
        </span>
        <span>
          {text("heapLimit")} <span class="number">{formatBytes(history.heapLimitBytes)}</span>
        </span>
      </p>
    </section>
  );
}
