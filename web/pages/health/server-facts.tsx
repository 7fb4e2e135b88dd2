import { formatCount, formatShort } from "../../format/number.ts";
import { formatAgo, formatTime } from "../../format/time.ts";
import { health } from "../../live/health.ts";
import { healthText as text } from "./health-text.ts";

/** The gateway itself: version, start, requests, and resources that are open. */
export function ServerFacts() {
  const state = health.value;
  if (!state) return null;
  const { version, startedAt, inFlight, process, totals, handles } = state;
  const rows = [
    [text("version"), version],
    [text("running"), `${formatAgo(startedAt)} (${formatTime(startedAt)})`],
    [text("process"), process ? `${process.pid} · Node ${process.node}` : formatCount(undefined)],
    [text("inFlight"), formatCount(inFlight)],
    [text("requests"), formatCount(totals?.requests)],
    [text("failures"), formatCount(totals?.failures)],
    [text("edits"), formatCount(totals?.edits)],
  ] as const;
  return (
    <section class="section" id="server">
      <h2 class="section-head">{text("server")}</h2>
      <dl class="server-facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
        {Object.entries(handles ?? {}).map(([name, { opened, closed }]) => (
          <div key={name}>
            <dt>{text("opened", { name })}</dt>
            <dd class="number">
              {formatCount(opened - closed)}{" "}
              <span class="dim">{text("ofOpened", { opened: formatShort(opened) })}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
