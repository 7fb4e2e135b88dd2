import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { Table } from "../../components/table.tsx";
import { formatTime } from "../../format/time.ts";
import { shellText } from "../../i18n/shell-text.ts";
import { memoryText as text } from "./memory-text.ts";

const CHANGES = {
  remembered: "changeRemembered",
  accepted: "accepted",
  rejected: "rejected",
  forgotten: "changeForgotten",
  restored: "changeRestored",
  dated: "changeDated",
  moved: "moved",
} as const;

/** Every change to an agent's memories, once it is asked for; `round` changes when the list was read again. */
export function MemoryHistory({
  agent,
  round,
}: {
  readonly agent: string | undefined;
  readonly round: unknown;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text("history")}</summary>
      {isOpen && <MemoryEvents agent={agent} round={round} />}
    </details>
  );
}

function MemoryEvents({ agent, round }: { readonly agent: string | undefined; readonly round: unknown }) {
  const history = useResource(
    (signal) =>
      call(
        "GET /memories/history",
        { query: { limit: 200, ...(agent !== undefined && { agent }) } },
        { signal },
      ),
    [agent, round],
  );
  return (
    <ResourceView resource={history}>
      {({ events }) => (
        <Table
          caption={text("history")}
          rows={events.map((event, index) => ({ ...event, key: `${index}` }))}
          keyOf={({ key }) => key}
          columns={[
            { name: text("when"), cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
            { name: text("change"), cell: ({ change }) => text(CHANGES[change]) },
            {
              name: text("text"),
              cell: ({ text: words, memory }) => words ?? memory ?? shellText("notAvailable"),
            },
          ]}
        />
      )}
    </ResourceView>
  );
}
