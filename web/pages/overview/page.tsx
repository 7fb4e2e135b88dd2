import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { Figure } from "../../components/figure.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatMoney, formatShare } from "../../format/number.ts";
import { overviewText as text } from "./overview-text.ts";

/** The first page: money, then conversations. */
export default function OverviewPage() {
  const usage = useResource((signal) => call("GET /usage", { query: { by: "day" } }, { signal }), []);
  return (
    <>
      <h1>{text("title")}</h1>
      <ResourceView resource={usage}>
        {({ total, cacheShare }) => (
          <div class="figures section">
            <Figure label={text("spent")} value={formatMoney(total.cost)} />
            <Figure label={text("cacheShare")} value={formatShare(cacheShare, 1)} />
          </div>
        )}
      </ResourceView>
    </>
  );
}
