import { signal } from "@preact/signals";
import { isSignInNeeded } from "../api/token.ts";
import { formatAgo } from "../format/time.ts";
import { shellText } from "../i18n/shell-text.ts";
import { health, healthFailure } from "../live/health.ts";

/** A warning goes away by itself when the monitor reports a normal state, or after this time. */
const MAX_AGE_MS = 30 * 60_000;

const dismissedAt = signal(0);

/** The strip of warnings above every page: the gateway is gone, its store fails, or the monitor reports pressure. */
export function Warnings() {
  if (isSignInNeeded.value) return null;
  const lines = [...listStateWarnings(), ...listNotices()];
  if (lines.length === 0) return null;
  return (
    <div class="warnings" role="status">
      {lines.map(({ text, at }) => (
        <p key={text}>
          <span class="warning-text">{text}</span>
          {at !== undefined && <span class="dim">{formatAgo(at)}</span>}
          {at !== undefined && <a href="/health#notes">{shellText("seeHealth")}</a>}
          {at !== undefined && (
            <button type="button" class="quiet" onClick={() => (dismissedAt.value = at)}>
              {shellText("dismiss")}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}

function listStateWarnings(): readonly { text: string; at?: number }[] {
  if (healthFailure.value?.status === 0) return [{ text: shellText("unreachable") }];
  if (health.value?.status === "draining") return [{ text: shellText("draining") }];
  return health.value?.status === "store" ? [{ text: shellText("storeFailed") }] : [];
}

/** The newest notice about pressure, unless all is normal again. A relief does not end it. */
function listNotices(): readonly { text: string; at: number }[] {
  const newest = health.value?.notices.find(({ type }) => type !== "relief");
  if (!newest || newest.type === "normal" || newest.at <= dismissedAt.value) return [];
  return (health.value?.now ?? 0) - newest.at < MAX_AGE_MS ? [newest] : [];
}
