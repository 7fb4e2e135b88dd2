import { useState } from "preact/hooks";
import { toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { linkToSession } from "../../shell/links.ts";
import { useShortcuts } from "../../shell/use-shortcuts.ts";
import { describeValidity } from "./describe-validity.ts";
import { linkToMemories } from "./memory-links.ts";
import { memoryText as text } from "./memory-text.ts";
import { type Memory, TrustPill } from "./trust-pill.tsx";

interface Agents {
  readonly agents: readonly { readonly agent: string; readonly unreviewed: number }[];
}
type Decision = "accepted" | "rejected";

/** The notes of all agents that nobody has judged yet. */
export function ReviewView({ agents }: { readonly agents: Resource<Agents> }) {
  const waiting = agents.value?.agents.filter(({ unreviewed }) => unreviewed > 0) ?? [];
  const names = waiting.map(({ agent, unreviewed }) => `${agent} ${unreviewed}`).join("\n");
  const notes = useResource(
    async (signal) => {
      const pages = waiting.map(({ agent }) =>
        call("GET /memories", { query: { agent, review: true, limit: 100 } }, { signal }),
      );
      return (await Promise.all(pages)).flatMap(({ agent, memories }) =>
        memories.map((memory) => ({ agent, memory })),
      );
    },
    [names, agents.value !== undefined],
  );
  const [place, setPlace] = useState(0);
  const rows = notes.value ?? [];
  const current = rows[Math.min(place, rows.length - 1)];
  const judge = async (memory: Memory, decision: Decision) => {
    try {
      await call("POST /memories/{memory}/review", { params: { memory: memory.id }, body: { decision } });
      const other = decision === "accepted" ? "rejected" : "accepted";
      showToast(text(decision), {
        label: text(other === "accepted" ? "acceptInstead" : "rejectInstead"),
        run: () => void judge(memory, other),
      });
    } catch (error) {
      const { message, remedy } = toFailure(error);
      showToast(`${message} ${remedy}`);
    }
    agents.reload();
    notes.reload();
  };
  useShortcuts([
    { key: "j", label: text("nextNote"), run: () => setPlace(Math.min(place + 1, rows.length - 1)) },
    { key: "k", label: text("previousNote"), run: () => setPlace(Math.max(0, place - 1)) },
    { key: "a", label: text("accept"), run: () => current && void judge(current.memory, "accepted") },
    { key: "x", label: text("reject"), run: () => current && void judge(current.memory, "rejected") },
  ]);
  if (agents.failure || !agents.value) return <ResourceView resource={agents}>{() => null}</ResourceView>;
  return (
    <ResourceView resource={notes}>
      {(found) =>
        found.length === 0 ? (
          <EmptyState title={text("noNotes")} hint={text("noNotesHint")} />
        ) : (
          <>
            <p class="dim note">{text("reviewHint")}</p>
            <ol class="memories card">
              {found.map(({ agent, memory }) => (
                <ReviewRow
                  key={memory.id}
                  {...{ agent, memory }}
                  isCurrent={memory.id === current?.memory.id}
                  onJudge={(decision) => void judge(memory, decision)}
                />
              ))}
            </ol>
          </>
        )
      }
    </ResourceView>
  );
}

interface ReviewRowProps {
  readonly agent: string;
  readonly memory: Memory;
  readonly isCurrent: boolean;
  readonly onJudge: (decision: Decision) => void;
}

function ReviewRow({ agent, memory, isCurrent, onJudge }: ReviewRowProps) {
  const validity = describeValidity(memory);
  return (
    <li class={`memory ${isCurrent ? "is-chosen" : ""}`} aria-current={isCurrent ? "true" : undefined}>
      <div class="memory-body">
        <Markdown text={memory.text} />
        <p class="memory-facts dim">
          <TrustPill memory={memory} />
          <a href={linkToMemories(agent, memory.id)}>{agent}</a>
          <time dateTime={new Date(memory.at).toISOString()} title={formatTime(memory.at)}>
            {formatAgo(memory.at)}
          </time>
          {validity && <span class={validity.isNow ? "" : "warm"}>{validity.words}</span>}
          {memory.source && <a href={linkToSession(memory.source)}>{text("source")}</a>}
        </p>
      </div>
      <div class="memory-actions">
        <button type="button" class="primary" onClick={() => onJudge("accepted")}>
          {text("accept")}
        </button>
        <button type="button" onClick={() => onJudge("rejected")}>
          {text("reject")}
        </button>
      </div>
    </li>
  );
}
