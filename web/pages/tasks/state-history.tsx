import { formatDuration, formatTime } from "../../format/time.ts";
import { type Details, type State, StatePill } from "./state-pill.tsx";
import { tasksText as text } from "./tasks-text.ts";

type EventName = NonNullable<Details["moves"][number]["event"]>;

const EVENT_TEXTS = {
  start: "eventStart",
  resume: "eventResume",
  detach: "eventDetach",
  detached: "eventDetached",
  release: "eventRelease",
  complete: "eventComplete",
  fail: "eventFail",
  kill: "eventKill",
  lose: "eventLose",
} as const satisfies Readonly<Record<EventName, Parameters<typeof text>[0]>>;

/** Every change of a task's state, with the time that each state took. */
export function StateHistory({ moves }: { readonly moves: Details["moves"] }) {
  if (moves.length === 0) return null;
  return (
    <section class="section">
      <h2 class="section-head">{text("stateHistory")}</h2>
      <ol class="moves">
        {moves.map(({ at, event, to, mode, reason }, index) => {
          const next = moves[index + 1];
          return (
            <li key={`${at} ${index}`}>
              <time class="number dim" dateTime={new Date(at).toISOString()}>
                {formatTime(at)}
              </time>
              <StatePill state={to as State} />
              <span>
                {text(event ? EVENT_TEXTS[event] : "created")}
                {mode && ` · ${text(mode)}`}
                {reason && ` · ${reason}`}
              </span>
              <span class="number dim move-time">{next ? formatDuration(next.at - at) : ""}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
