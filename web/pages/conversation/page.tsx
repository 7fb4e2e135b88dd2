import { useEffect, useMemo } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { Segments } from "../../components/segments.tsx";
import { SessionHead } from "../../session/session-head.tsx";
import { linkToWindow } from "../../shell/links.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { navigate, setQuery } from "../../shell/router.ts";
import { useShortcuts } from "../../shell/use-shortcuts.ts";
import { conversationText as text } from "./conversation-text.ts";
import { HeadActions } from "./head-actions.tsx";
import { SaidView } from "./said-view.tsx";
import { SeesView } from "./sees-view.tsx";
import { stepThroughRows } from "./step-through-rows.ts";
import "./conversation.css";

/** One conversation: what was said, or what the model sees of it. */
export default function ConversationPage({ params, query }: PageProps) {
  const id = params.id ?? "";
  const isSeen = query.get("view") === "model";
  const line = query.get("line") === "log" ? "log" : "active";
  // The messages come first: the facts of a very long conversation may take the gateway longer.
  const shown = useMemo(() => Promise.withResolvers<void>(), [id]);
  useEffect(() => {
    if (isSeen) shown.resolve();
  }, [isSeen, shown]);
  const session = useResource(
    async (signal) => {
      await shown.promise;
      return await call(
        "GET /sessions/{session}",
        { params: { session: id }, query: { usage: false } },
        { signal },
      );
    },
    [id],
  );
  const choose = (view: "said" | "seen") =>
    setQuery({ view: view === "seen" ? "model" : undefined, entry: undefined });
  useShortcuts([
    { key: "j", label: text("shortcutNext"), run: () => stepThroughRows(1) },
    { key: "k", label: text("shortcutPrevious"), run: () => stepThroughRows(-1) },
    { key: "m", label: text("shortcutView"), run: () => choose(isSeen ? "said" : "seen") },
    { key: "w", label: text("shortcutWindow"), run: () => navigate(linkToWindow(id)) },
    {
      key: "#",
      label: text("goToEntry"),
      run: () => document.querySelector<HTMLInputElement>("[data-go]")?.focus(),
    },
  ]);
  if (session.failure && !session.value)
    return <ErrorState failure={session.failure} retry={session.reload} />;
  // With a token, the address may leave the person's prefix out.
  const known = session.value?.id ?? id;
  return (
    <div class="conversation">
      <SessionHead id={id} session={session.value} current="conversation">
        <div class="head-tools">
          <HeadActions session={known} />
          <Segments
            label={text("views")}
            value={isSeen ? "seen" : "said"}
            options={[
              { value: "said", label: text("said") },
              { value: "seen", label: text("seen") },
            ]}
            onChange={choose}
          />
        </div>
      </SessionHead>
      {isSeen ? (
        <SeesView key={id} session={id} />
      ) : (
        <SaidView
          key={`${id} ${line}`}
          session={known}
          line={line}
          entry={query.get("entry") ?? undefined}
          entries={session.value?.entries ?? 0}
          onShown={shown.resolve}
        />
      )}
    </div>
  );
}
