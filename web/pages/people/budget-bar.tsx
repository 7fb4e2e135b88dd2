import type { Reply } from "../../api/routes.ts";
import { formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { peopleText as text } from "./people-text.ts";

type Budget = Reply<"GET /people">["shared"][number];

/** People are warned when this share is used. */
const WARNING_SHARE = 0.8;
const WIDTH = 1_000;

/** The use of a budget in its period. */
export function BudgetBar({ budget }: { readonly budget: Budget }) {
  const { spent, reserved, amount, unit, period, project, model, resetsAt } = budget;
  const used = spent + reserved;
  const share = amount > 0 ? used / amount : 1;
  const level = share >= 1 ? "full" : share >= WARNING_SHARE ? "high" : "low";
  const words = [
    text("used", {
      used: formatAmount(used, unit),
      amount: formatAmount(amount, unit),
      period: text(period),
    }),
    ...(project === null ? [] : [text("forProject", { name: project })]),
    ...(model === null ? [] : [text("forModel", { name: model })]),
  ].join(" · ");
  return (
    <div class="budget">
      <p class="budget-words">
        <span>{words}</span>
        <span class={`number ${level === "full" ? "bad" : level === "high" ? "warm" : "dim"}`}>
          {formatShare(share)}
        </span>
      </p>
      <svg
        class="budget-bar"
        viewBox={`0 0 ${WIDTH} 8`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text("barLabel", { share: formatShare(share), words })}
      >
        <rect class="part-0" width={WIDTH} height="8" />
        <rect class={`budget-${level}`} width={Math.min(WIDTH, share * WIDTH)} height="8" />
      </svg>
      {resetsAt !== null && period !== "minute" && (
        <p class="dim budget-reset">{text("resets", { time: formatTime(resetsAt) })}</p>
      )}
    </div>
  );
}

function formatAmount(amount: number, unit: Budget["unit"]): string {
  if (unit === "usd") return formatMoney(amount);
  return text(unit, { count: formatShort(amount) });
}
