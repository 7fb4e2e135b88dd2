import { useState } from "preact/hooks";
import { call, download } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { saveFile } from "../../components/save-file.ts";
import { formatCount } from "../../format/number.ts";
import { formatAgo } from "../../format/time.ts";
import { sessionText } from "../../session/session-text.ts";
import { linkToEntryId, linkToSession } from "../../shell/links.ts";
import { conversationText as text } from "./conversation-text.ts";
import { showFailure } from "./entry-menu.tsx";

type Panel = "todos" | "children" | "lines" | "export";

/** To-do list, sub-conversations, lines and export of a conversation. */
export function HeadActions({ session }: { readonly session: string }) {
  const [panel, setPanel] = useState<Panel>();
  const close = () => setPanel(undefined);
  const open = (name: Panel) => () => setPanel(name);
  return (
    <>
      <button type="button" class="quiet" onClick={open("todos")}>
        {text("todos")}
      </button>
      <button type="button" class="quiet" onClick={open("children")}>
        {text("children")}
      </button>
      <button type="button" class="quiet" onClick={open("lines")}>
        {text("lines")}
      </button>
      <button type="button" class="quiet" onClick={open("export")}>
        {text("export")}
      </button>
      {panel === "todos" && <TodosDialog session={session} onClose={close} />}
      {panel === "children" && <ChildrenDialog session={session} onClose={close} />}
      {panel === "lines" && <LinesDialog session={session} onClose={close} />}
      {panel === "export" && <ExportDialog session={session} onClose={close} />}
    </>
  );
}

interface PanelProps {
  readonly session: string;
  readonly onClose: () => void;
}

function TodosDialog({ session, onClose }: PanelProps) {
  const list = useResource(
    (signal) => call("GET /sessions/{session}/todos", { params: { session } }, { signal }),
    [session],
  );
  return (
    <Dialog title={text("todos")} onClose={onClose}>
      <ResourceView resource={list}>
        {({ todos }) =>
          todos.length === 0 ? (
            <EmptyState title={text("noTodos")} hint={text("noTodosHint")} />
          ) : (
            <ul class="panel-list">
              {todos.map(({ text: words, state, entry }, index) => (
                <li key={`${index} ${entry}`}>
                  <a href={linkToEntryId(entry)} onClick={onClose}>
                    {words}
                  </a>
                  <span class={state === "done" ? "good" : "dim"}>{text(`todo_${state}`)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
    </Dialog>
  );
}

function ChildrenDialog({ session, onClose }: PanelProps) {
  const children = useResource(
    (signal) =>
      call(
        "GET /sessions/{session}/children",
        { params: { session }, query: { limit: 200, usage: false } },
        { signal },
      ),
    [session],
  );
  return (
    <Dialog title={text("children")} onClose={onClose}>
      <ResourceView resource={children}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <EmptyState title={text("noChildren")} hint={text("noChildrenHint")} />
          ) : (
            <ul class="panel-list">
              {sessions.map(({ id, title, relation, entries, lastEntryAt }) => (
                <li key={id}>
                  <a href={linkToSession(id)} onClick={onClose}>
                    {title || sessionText("untitled")}
                  </a>
                  <span class="dim number">
                    {text(relation === "fork" ? "isFork" : "isChild")} ·{" "}
                    {sessionText("entries", { count: formatCount(entries) })} · {formatAgo(lastEntryAt)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
    </Dialog>
  );
}

function LinesDialog({ session, onClose }: PanelProps) {
  const lines = useResource(
    (signal) => call("GET /sessions/{session}/lines", { params: { session } }, { signal }),
    [session],
  );
  const choose = (line: number) =>
    call("POST /sessions/{session}/lines", { params: { session }, body: { line } }).then(
      onClose,
      showFailure,
    );
  return (
    <Dialog title={text("lines")} onClose={onClose}>
      <p class="dim">{text("linesHint")}</p>
      <ResourceView resource={lines}>
        {({ lines: found }) => (
          <ul class="panel-list">
            {found.map(({ seq, reason, isActive, ranges }) => (
              <li key={seq}>
                <span>
                  {seq === 0 ? text("firstLine") : reason}{" "}
                  <span class="dim number">{text("lineRanges", { count: formatCount(ranges.length) })}</span>
                </span>
                {isActive ? (
                  <span class="good">{sessionText("inEffect")}</span>
                ) : (
                  <button type="button" onClick={() => choose(seq)}>
                    {text("returnToLine")}
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </ResourceView>
      <p>
        <a href={`${linkToSession(session)}?line=log`} onClick={onClose}>
          {text("openLog")}
        </a>
      </p>
    </Dialog>
  );
}

function ExportDialog({ session, onClose }: PanelProps) {
  const formats = useResource((signal) => call("GET /formats", {}, { signal }), []);
  const save = async (to: string) => {
    try {
      const bytes = await download("GET /sessions/{session}/export", { params: { session }, query: { to } });
      const ending = to === "markdown" ? "md" : "json";
      saveFile(bytes, `${session.replace(/[^\w.-]+/g, "-").slice(-80)}.${ending}`);
      onClose();
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <Dialog title={text("export")} onClose={onClose}>
      <p class="dim">{text("exportHint")}</p>
      <ResourceView resource={formats}>
        {({ formats: found }) => (
          <ul class="panel-list">
            {found.map(({ name, title }) => (
              <li key={name}>
                <span>{title}</span>
                <button type="button" onClick={() => void save(name)}>
                  {text("save")}
                </button>
              </li>
            ))}
          </ul>
        )}
      </ResourceView>
    </Dialog>
  );
}
