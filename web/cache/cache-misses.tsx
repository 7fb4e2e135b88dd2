import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Reply } from "../api/routes.ts";
import { useResource } from "../api/use-resource.ts";
import { ResourceView } from "../components/resource-view.tsx";
import { Table } from "../components/table.tsx";
import { formatMoney, formatShort } from "../format/number.ts";
import { formatTime } from "../format/time.ts";
import { onChange } from "../live/changes.ts";
import { useNow } from "../live/use-now.ts";
import { cacheText as text } from "./cache-text.ts";

type SessionCache = Reply<"GET /sessions/{session}/cache">;

/** The provider's cache of one conversation: hot or cold, the time left, and each miss with its cause. */
export function CacheMisses({ session }: { readonly session: string }) {
  const cache = useResource(
    async (signal) => {
      const reply = await call("GET /sessions/{session}/cache", { params: { session } }, { signal });
      return { ...reply, readAt: Date.now() };
    },
    [session],
  );
  useEffect(
    () =>
      onChange((change) => {
        if (change.event === "session" && change.data.session === session) cache.reload();
      }),
    [session],
  );
  return (
    <section class="section" id="cache">
      <div class="section-head">
        <h2>{text("title")}</h2>
      </div>
      <ResourceView resource={cache}>
        {({ now, misses, readAt }) => (
          <>
            <Now now={now} readAt={readAt} />
            {misses.length === 0 ? (
              <p class="dim">{text("none")}</p>
            ) : (
              <Table
                caption={text("title")}
                rows={misses}
                keyOf={({ seq }) => String(seq)}
                columns={[
                  { name: text("when"), cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
                  { name: text("cause"), cell: ({ cause }) => text(`cause-${cause}`) },
                  { name: text("owner"), isMinor: true, cell: ({ owner }) => text(owner) },
                  {
                    name: text("tokens"),
                    isNumber: true,
                    cell: ({ missedTokens }) => formatShort(missedTokens),
                  },
                  { name: text("dollars"), isNumber: true, cell: ({ dollars }) => formatMoney(dollars) },
                  {
                    name: text("detail"),
                    isMinor: true,
                    cell: ({ providerDiagnosis, detail, words }) => providerDiagnosis ?? detail ?? words,
                  },
                ]}
              />
            )}
          </>
        )}
      </ResourceView>
    </section>
  );
}

function Now({ now, readAt }: { readonly now: SessionCache["now"]; readonly readAt: number }) {
  const time = useNow(now?.isHot === true);
  if (!now) return <p class="dim">{text("silent")}</p>;
  const leftMs = Math.max(0, now.leftMs - (time - readAt));
  const tokens = formatShort(now.cachedTokens);
  if (leftMs === 0) return <p class="dim">{text("cold", { tokens })}</p>;
  const seconds = Math.ceil(leftMs / 1_000);
  const left =
    seconds < 120
      ? text("seconds", { count: seconds })
      : text("minutes", { count: Math.round(seconds / 60) });
  return <p>{text("hot", { tokens, time: left })}</p>;
}
