import "./forgot.css";
import { useState } from "preact/hooks";
import { toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatTime } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { describeReason } from "../../session/edit-reason.ts";
import { linkToEntry } from "../../shell/links.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { forgotText as text } from "./forgot-text.ts";

type Hit = Extract<Reply<"GET /recall">["hits"][number], { readonly kind: "session" }>;

const SHOWN = 5;
const MAX_SHOWN = 600;
const ROUTE = "GET /sessions/{session}/entries/{entry}/window";

/** Finds words that an agent forgot: whether the model still sees them, why not, and the way back. */
export default function ForgotPage({ query }: PageProps) {
  const q = query.get("q")?.trim() ?? "";
  const session = query.get("session") ?? undefined;
  const found = useResource(
    (signal) =>
      q
        ? call(
            "GET /recall",
            { query: { q, k: 3 * SHOWN, ...(session && { session: [session] }) } },
            { signal },
          )
        : Promise.resolve(undefined),
    [q, session],
  );
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="dim forgot-hint">{text("hint")}</p>
      <form
        class="forgot-form"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: new FormData(event.currentTarget).get("words")?.toString().trim() });
        }}
      >
        <textarea
          key={q}
          name="words"
          rows={3}
          maxLength={4_000}
          defaultValue={q}
          aria-label={text("words")}
          placeholder={text("words")}
        />
        <button type="submit" class="primary">
          {text("find")}
        </button>
      </form>
      {q && (
        <ResourceView resource={found}>
          {(reply) => {
            if (!reply) return null;
            const hits = firstOfEachEntry(reply.hits);
            return hits.length === 0 ? (
              <EmptyState title={text("nothing")} hint={text("nothingHint")} />
            ) : (
              <ol class="forgotten">
                {hits.map((hit) => (
                  <Forgotten key={hit.entry} hit={hit} />
                ))}
              </ol>
            );
          }}
        </ResourceView>
      )}
    </>
  );
}

function firstOfEachEntry(hits: Reply<"GET /recall">["hits"]): readonly Hit[] {
  const known = new Map<string, Hit>();
  for (const hit of hits) if (hit.kind === "session" && !known.has(hit.entry)) known.set(hit.entry, hit);
  return [...known.values()].slice(0, SHOWN);
}

/** One place where the words were said. */
function Forgotten({ hit }: { readonly hit: Hit }) {
  const params = { session: hit.session, entry: hit.entry };
  const found = useResource((signal) => call(ROUTE, { params }, { signal }), [hit.entry]);
  const [isBusy, setBusy] = useState(false);
  const restore = async () => {
    setBusy(true);
    try {
      showToast(text((await putBack(hit)) ? "restored" : "notRestored"));
      found.reload();
    } catch (error) {
      const { message, remedy } = toFailure(error);
      showToast(`${message} ${remedy}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <li class="card">
      <p class="forgotten-head">
        <a href={linkToEntry(hit.session, hit.seq)}>
          {hit.details?.title ? toPlainTitle(hit.details.title) : text("open")}
        </a>{" "}
        <time class="dim">{formatTime(hit.at)}</time>
      </p>
      <div class="forgotten-text">
        <Markdown text={hit.text.slice(0, MAX_SHOWN)} />
      </div>
      <ResourceView resource={found}>
        {(state) => (
          <>
            <p>
              <b>{text(state.isPinned && state.state === "whole" ? "pinned" : state.state)}</b>{" "}
              <span class="dim">{explain(state)}</span>
            </p>
            {!(state.isPinned && state.state === "whole") && (
              <p class="actions">
                <button type="button" class="primary" disabled={isBusy} onClick={restore}>
                  {text("restore")}
                </button>
                {hit.resume && <span class="dim">{text("imported")}</span>}
              </p>
            )}
          </>
        )}
      </ResourceView>
    </li>
  );
}

function explain({ state, isPinned, edit }: Reply<typeof ROUTE>): string {
  if (state === "whole") return isPinned ? "" : text("wholeHint");
  if (!edit) return text("noEdit");
  return text("went", {
    time: formatTime(edit.at),
    reason: describeReason(edit.reason),
    author: edit.author,
  });
}

/** Pins an entry, and takes back the edit that keeps it out of the window; false if it is still not there. */
async function putBack({ session, entry }: Hit): Promise<boolean> {
  const params = { session, entry };
  await call("POST /sessions/{session}/pins", { params: { session }, body: { entry } });
  const pinned = await call(ROUTE, { params });
  if (pinned.state === "whole") return true;
  if (!pinned.edit) return false;
  const { overlay, index } = pinned.edit;
  const body = { overlay, ...(index !== null && { edit: index }) };
  await call("POST /sessions/{session}/revert", { params: { session }, body });
  return (await call(ROUTE, { params })).state === "whole";
}
