import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { CacheMisses } from "../../cache/cache-misses.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { onChange } from "../../live/changes.ts";
import { SessionHead } from "../../session/session-head.tsx";
import { linkToSession } from "../../shell/links.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { navigate } from "../../shell/router.ts";
import { useShortcuts } from "../../shell/use-shortcuts.ts";
import { CompactionPanel } from "./compaction-panel.tsx";
import { CurvePanel } from "./curve-panel.tsx";
import { PartsPanel } from "./parts-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import { RequestTable } from "./request-table.tsx";
import { stepThroughEdits } from "./step-through-edits.ts";
import { windowText as text } from "./window-text.ts";
import "./window.css";

/** The window of one conversation: its parts now, its course, other policies, and a summary before it is made. */
export default function WindowPage({ params, query }: PageProps) {
  const id = params.id ?? "";
  const session = useResource(
    (signal) => call("GET /sessions/{session}", { params: { session: id } }, { signal }),
    [id],
  );
  const window = useResource(
    (signal) =>
      call("GET /sessions/{session}/window", { params: { session: id }, query: { plan: true } }, { signal }),
    [id],
  );
  const curve = useResource(
    (signal) => call("GET /sessions/{session}/curve", { params: { session: id } }, { signal }),
    [id],
  );
  const reload = () => {
    session.reload();
    window.reload();
    curve.reload();
  };
  const known = session.value?.id ?? id;
  useEffect(
    () =>
      onChange((change) => {
        if (change.event === "session" && change.data.session === known) reload();
      }),
    [known],
  );
  useShortcuts([
    { key: "c", label: text("shortcutConversation"), run: () => navigate(linkToSession(id)) },
    { key: "[", label: text("shortcutPrevious"), run: () => stepThroughEdits(-1) },
    { key: "]", label: text("shortcutNext"), run: () => stepThroughEdits(1) },
  ]);
  if (session.failure && !session.value)
    return <ErrorState failure={session.failure} retry={session.reload} />;
  return (
    <div class="window-page">
      <SessionHead id={id} session={session.value} current="window" />
      <PartsPanel session={known} window={window} totals={session.value?.usage} onChanged={reload} />
      {query.has("requests") && <RequestTable session={known} after={Number(query.get("requests")) || 0} />}
      <CurvePanel session={known} curve={curve} onChanged={reload} />
      <CacheMisses session={known} />
      <PolicyPanel key={`policy ${id}`} session={known} window={window.value?.limits.window} />
      <CompactionPanel key={`summary ${id}`} session={known} onChanged={reload} />
    </div>
  );
}
