import type { Reply } from "../../api/routes.ts";
import { formatTime } from "../../format/time.ts";
import { linkToSession } from "../../shell/links.ts";
import { StatePill } from "./state-pill.tsx";
import { linkToTask } from "./task-links.ts";
import { tasksText as text } from "./tasks-text.ts";

type Notice = Reply<"GET /notices">["notices"][number];

/** The message about the end of a task, with the findings of the steps after it. */
export function NoticeCard({ notice, hasLink }: { readonly notice: Notice; readonly hasLink: boolean }) {
  const { task, title, agent, session, state, settledAt, reason, error, facts } = notice;
  const findings = Object.entries(facts ?? {});
  return (
    <article class="notice card">
      <header>
        <StatePill state={state} />
        {hasLink && <a href={linkToTask(task)}>{title ?? task}</a>}
        <span class="dim">{agent}</span>
        <time class="dim number" dateTime={new Date(settledAt).toISOString()}>
          {formatTime(settledAt)}
        </time>
      </header>
      {reason && <p>{text("because", { reason })}</p>}
      {error && <p class="bad task-error">{error}</p>}
      {findings.length > 0 && (
        <dl class="findings">
          {findings.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Finding value={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p class="dim">
        {text("conversation")} <a href={linkToSession(session)}>{session}</a>
      </p>
    </article>
  );
}

function Finding({ value }: { readonly value: unknown }) {
  if (typeof value !== "object" || value === null) return <code>{String(value)}</code>;
  return (
    <ul class="finding">
      {Object.entries(value).map(([name, one]) => (
        <li key={name}>
          <span class="dim">{name}</span> <code>{typeof one === "string" ? one : JSON.stringify(one)}</code>
        </li>
      ))}
    </ul>
  );
}
