import type { ComponentChildren } from "preact";
import { CopyButton } from "../../components/copy-button.tsx";
import { formatCount, formatMoney } from "../../format/number.ts";
import { formatAgo, formatDuration, formatTime } from "../../format/time.ts";
import { useNow } from "../../live/use-now.ts";
import { linkToSession } from "../../shell/links.ts";
import { type Details, isLive } from "./state-pill.tsx";
import { linkToTask, linkToTasks } from "./task-links.ts";
import { tasksText as text } from "./tasks-text.ts";

/** What is known about a task, its worktree first. */
export function TaskFacts({ task }: { readonly task: Details }) {
  const now = useNow(isLive(task.state));
  const { worktree, spent, outcome } = task;
  const command = findCommandLine(task.input);
  const isWaiting = task.queue !== undefined && task.worker === undefined && isLive(task.state);
  const isOrphan = isLive(task.state) && !task.isOwned && !isWaiting;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    [text("agent"), task.agent],
    [text("conversation"), <a href={linkToSession(task.session)}>{task.session}</a>],
    ...(task.parentSession !== undefined && task.parentSession !== task.session
      ? [[text("reportsTo"), <a href={linkToSession(task.parentSession)}>{task.parentSession}</a>] as const]
      : []),
    ...(task.parent === undefined
      ? []
      : [[text("parent"), <a href={linkToTask(task.parent)}>{task.parent}</a>] as const]),
    [text("mode"), `${text(task.mode)}${isOrphan ? ` · ${text("noOwner")}` : ""}`],
    ...(task.queue === undefined
      ? []
      : [[text("queue"), <a href={linkToTasks({ queue: task.queue })}>{task.queue}</a>] as const]),
    ...(task.person === undefined
      ? []
      : [[text("person"), <a href={linkToTasks({ person: task.person })}>{task.person}</a>] as const]),
    ...(task.worker || isWaiting
      ? [[text("worker"), task.worker ? text("workerOf", task.worker) : text("noWorkerYet")] as const]
      : []),
    [text("started"), <span title={formatTime(task.createdAt)}>{formatAgo(task.createdAt, now)}</span>],
    [text("duration"), formatDuration((task.settledAt ?? now) - task.createdAt)],
    ...(task.deadlineAt === undefined ? [] : [[text("deadline"), formatTime(task.deadlineAt)] as const]),
    [text("resumes"), task.canResume ? text("resumed", { count: task.resumes }) : text("cannotResume")],
    [
      text("spent"),
      text("spentOf", {
        tokens: formatCount(spent.tokens),
        money: formatMoney(spent.dollars),
        steps: formatCount(spent.steps),
      }),
    ],
    ...(outcome?.reason === undefined ? [] : [[text("reason"), outcome.reason] as const]),
  ];
  return (
    <>
      {outcome?.error && <p class="task-error bad">{outcome.error}</p>}
      {worktree && (
        <section class="worktree card" aria-label={text("worktree")}>
          <h2>{text("worktree")}</h2>
          <WorktreeLine name={text("path")} value={worktree.path} copied={worktree.path} />
          <WorktreeLine
            name={text("branch")}
            value={worktree.branch}
            copied={`git -C ${quoteWord(worktree.repository)} diff HEAD...${quoteWord(worktree.branch)}`}
            copyLabel={text("copyDiff")}
          />
          <WorktreeLine name={text("repository")} value={worktree.repository} copied={worktree.repository} />
        </section>
      )}
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
      {command !== undefined && (
        <p class="task-command">
          <code>$ {command}</code> <CopyButton text={command} />
        </p>
      )}
      {((task.input !== undefined && command === undefined) || outcome?.result !== undefined) && (
        <div class="task-values">
          {task.input !== undefined && command === undefined && (
            <JsonBox name={text("input")} value={task.input} />
          )}
          {outcome?.result !== undefined && <JsonBox name={text("result")} value={outcome.result} />}
        </div>
      )}
    </>
  );
}

interface WorktreeLineProps {
  readonly name: string;
  readonly value: string;
  readonly copied: string;
  readonly copyLabel?: string;
}

function WorktreeLine({ name, value, copied, copyLabel }: WorktreeLineProps) {
  return (
    <p class="worktree-line">
      <span class="dim">{name}</span>
      <code>{value}</code>
      <CopyButton text={copied} {...(copyLabel !== undefined && { label: copyLabel })} />
    </p>
  );
}

/** The command line of a task that runs a program; undefined for other tasks. */
function findCommandLine(input: unknown): string | undefined {
  const { command, args } = (input ?? {}) as { readonly command?: unknown; readonly args?: unknown };
  if (typeof command !== "string" || !Array.isArray(args)) return undefined;
  return [command, ...args.map(String)].map(quoteWord).join(" ");
}

/** Quotes a word for a shell. */
function quoteWord(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function JsonBox({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <details>
      <summary>{name}</summary>
      <pre class="json">{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}
