import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { Figure } from "../../components/figure.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { linkToSpending } from "../../shell/links.ts";
import { overviewText as text } from "./overview-text.ts";

type Report = Reply<"GET /usage">;

/** Spent, saved, and the share that came from the cache, each with its basis. */
export function MoneyFigures({
  report,
  from,
  estimate,
}: {
  readonly report: Report;
  readonly from: string | undefined;
  readonly estimate: Reply<"GET /usage/estimate"> | undefined;
}) {
  const { total, savings, cacheShare, sessions, subAgents } = report;
  const prompt = total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens;
  const href = linkToSpending({ from });
  const unpriced =
    total.unpricedRequests > 0
      ? ` · ${text("unpriced", { count: formatCount(total.unpricedRequests) })}`
      : "";
  return (
    <div class="figures">
      <Figure
        label={text("spent")}
        value={formatMoney(total.cost)}
        note={text("requests", { count: formatCount(total.requests) }) + unpriced}
        href={href}
      />
      <EstimateFigure estimate={estimate} />
      <Figure
        label={text("saved")}
        value={formatMoney(savings?.savedCost ?? 0)}
        note={<SavedNote savings={savings} />}
        href={savings && savings.withoutCost > 0 ? href : "/connect"}
      />
      <Figure
        label={text("cacheShare")}
        value={cacheShare === null ? "–" : formatShare(cacheShare, 1)}
        note={
          cacheShare === null
            ? text("noPrompts")
            : text("promptTokens", { read: formatShort(total.cacheReadTokens), all: formatShort(prompt) })
        }
        href={href}
      />
      <Figure
        label={text("conversations")}
        value={formatCount(sessions - subAgents)}
        note={
          (subAgents > 0 ? `${text("subAgents", { count: formatCount(subAgents) })} · ` : "") +
          text("outputTokens", { count: formatShort(total.outputTokens) })
        }
        href={href}
      />
    </div>
  );
}

/** What all conversations would have cost under the default policy: the figures of "longhaul replay --all". */
function EstimateFigure({ estimate }: { readonly estimate: Reply<"GET /usage/estimate"> | undefined }) {
  const { unpriced = 0, unboundedDollars = 0, dollars = 0, pending = 0 } = estimate ?? {};
  if (unboundedDollars === 0) {
    const reason =
      !estimate || pending > 0 ? "estimateRunning" : unpriced > 0 ? "estimateUnpriced" : "estimateNone";
    return <Figure label={text("wouldSave")} value="–" note={text(reason)} />;
  }
  const note = text("estimateNote", {
    dollars: formatMoney(dollars),
    unbounded: formatMoney(unboundedDollars),
  });
  return (
    <Figure
      label={text("wouldSave")}
      value={formatShare((unboundedDollars - dollars) / unboundedDollars)}
      note={pending > 0 ? `${note} · ${text("estimatePending", { count: formatCount(pending) })}` : note}
    />
  );
}

/** Estimated savings name their denominator; savings measured by a control group name their interval. */
function SavedNote({ savings }: { readonly savings: Report["savings"] }) {
  const { value } = useResource((signal) => call("GET /usage/control", {}, { signal }), []);
  const all = value?.groups.find(
    ({ agent, model, isEnough }) => agent === null && model === null && isEnough,
  );
  const cost = all?.figures.find(({ name }) => name === "cost");
  if (cost)
    return (
      <>
        {text("measured", {
          saved: formatMoney(-cost.difference),
          low: formatMoney(-cost.high),
          high: formatMoney(-cost.low),
          count: formatCount(all?.conversations.control),
        })}
      </>
    );
  if (!savings || savings.withoutCost === 0) return <>{text("noSavings")}</>;
  return (
    <>
      {text("estimated", {
        share: formatShare(savings.savedCost / savings.withoutCost, 1),
        without: formatMoney(savings.withoutCost),
      })}
    </>
  );
}
