import { useEffect, useState } from "preact/hooks";
import { toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Select } from "../../components/select.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useChanges } from "../../live/use-changes.ts";
import { setQuery } from "../../shell/router.ts";
import { ForgetMemoryDialog } from "./forget-memory-dialog.tsx";
import { MemoryForm } from "./memory-form.tsx";
import { MemoryHistory } from "./memory-history.tsx";
import { findMemoryAgent } from "./memory-links.ts";
import { MemoryRow } from "./memory-row.tsx";
import { memoryText as text } from "./memory-text.ts";
import type { Memory } from "./trust-pill.tsx";

const PAGE = 50;
const TRUSTS = ["user", "agent", "quoted", "rejected"] as const;
const TRUST_FILTERS = {
  user: "onlyUser",
  agent: "withAgents",
  quoted: "withQuotes",
  rejected: "all",
} as const;

interface MemoriesViewProps {
  readonly query: URLSearchParams;
  readonly agents: readonly { readonly agent: string; readonly unreviewed: number }[];
  readonly onChanged: () => void;
}

/** The memories of one agent in their order: add, edit, move, date, judge, forget. */
export function MemoriesView({ query, agents, onChanged }: MemoriesViewProps) {
  const agent = query.get("agent") ?? undefined;
  const chosen = query.get("memory");
  const trust = TRUSTS.find((one) => one === query.get("trust")) ?? "quoted";
  const isEver = query.get("valid") === "ever" || chosen !== null;
  const [limit, setLimit] = useState(PAGE);
  const [editing, setEditing] = useState<Memory | "new">();
  const [forgetting, setForgetting] = useState<Memory>();
  const filter = {
    trust,
    ...(isEver && { validAt: "ever" as const }),
    ...(agent !== undefined && { agent }),
  };
  const memories = useResource(
    (signal) => call("GET /memories", { query: { ...filter, limit } }, { signal }),
    [agent, trust, isEver, limit],
  );
  const reload = () => {
    memories.reload();
    onChanged();
  };
  useChanges(
    ({ event, data }) => event === "session" && findMemoryAgent(data.session) === memories.value?.agent,
    memories.reload,
  );
  const change = async (work: Promise<unknown>, done: string) => {
    try {
      await work;
      showToast(done);
    } catch (error) {
      const { message, remedy } = toFailure(error);
      showToast(`${message} ${remedy}`);
    }
    reload();
  };
  const lastPin = memories.value?.memories.findLastIndex(({ isPinned }) => isPinned);
  const isThere = memories.value !== undefined;
  useEffect(() => {
    if (chosen) document.getElementById(chosen)?.scrollIntoView({ block: "center" });
  }, [chosen, isThere]);
  return (
    <>
      <div class="section-head">
        <div class="filters">
          <Select
            label={text("agent")}
            value={agent ?? memories.value?.agent ?? ""}
            options={listAgents(agents, agent ?? memories.value?.agent)}
            onChange={(value) => setQuery({ agent: value, memory: undefined })}
          />
          <Select
            label={text("trust")}
            value={trust}
            options={TRUSTS.map((value) => ({ value, label: text(TRUST_FILTERS[value]) }))}
            onChange={(value) => setQuery({ trust: value === "quoted" ? undefined : value })}
          />
          <Select
            label={text("validity")}
            value={isEver ? "ever" : "now"}
            options={[
              { value: "now", label: text("validNow") },
              { value: "ever", label: text("validEver") },
            ]}
            onChange={(value) => setQuery({ valid: value === "ever" ? value : undefined, memory: undefined })}
          />
        </div>
        <button type="button" class="primary" onClick={() => setEditing("new")}>
          {text("add")}
        </button>
      </div>
      <ResourceView resource={memories}>
        {({ memories: rows, before }) =>
          rows.length === 0 ? (
            <EmptyState title={text("noMemories")} hint={text("noMemoriesHint")}>
              <button type="button" onClick={() => setEditing("new")}>
                {text("add")}
              </button>
            </EmptyState>
          ) : (
            <>
              <p class="dim note">{text("orderHint")}</p>
              <ol class="memories card">
                {rows.map((memory, index) => (
                  <MemoryRow
                    key={memory.id}
                    memory={memory}
                    above={rows[index - 1]?.id}
                    below={rows[index + 1]?.id}
                    isChosen={memory.id === chosen}
                    isLastPin={index === lastPin && index < rows.length - 1}
                    onChange={change}
                    onEdit={() => setEditing(memory)}
                    onForget={() => setForgetting(memory)}
                  />
                ))}
              </ol>
              {before !== undefined && (
                <p class="actions">
                  <button type="button" onClick={() => setLimit(limit + 4 * PAGE)}>
                    {text("more")}
                  </button>
                </p>
              )}
            </>
          )
        }
      </ResourceView>
      <MemoryHistory agent={agent} round={memories.value} />
      {editing && (
        <MemoryForm
          {...(editing !== "new" && { memory: editing })}
          agent={agent}
          onSaved={reload}
          onClose={() => setEditing(undefined)}
        />
      )}
      {forgetting && (
        <ForgetMemoryDialog
          id={forgetting.id}
          onForgotten={reload}
          onClose={() => setForgetting(undefined)}
        />
      )}
    </>
  );
}

function listAgents(agents: MemoriesViewProps["agents"], current: string | undefined) {
  const names = new Set([...agents.map(({ agent }) => agent), ...(current === undefined ? [] : [current])]);
  return [...names].map((value) => ({ value, label: value }));
}
