import type { Reply } from "../../api/routes.ts";
import { formatMoney, formatShort } from "../../format/number.ts";
import { formatDay } from "../../format/time.ts";
import { BudgetBar } from "./budget-bar.tsx";
import { peopleText as text } from "./people-text.ts";

export type Person = Reply<"GET /people">["people"][number];
export type UsageRow = Reply<"GET /usage">["rows"][number];

interface PersonCardProps {
  readonly person: Person;
  readonly usage: UsageRow | undefined;
  /** True if the reader may change the person. */
  readonly canChange: boolean;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
  readonly onErase: () => void;
}

/** One person with rights, token, budgets and usage. */
export function PersonCard({ person, usage, canChange, ...actions }: PersonCardProps) {
  const { name, role, budgets, models, upstreams, tokens } = person;
  return (
    <li class="person card">
      <div class="person-head">
        <h3>{name}</h3>
        <span class={`pill ${role === "admin" ? "live" : ""}`}>{text(role)}</span>
        <span class="dim">{describeToken(tokens)}</span>
        {canChange && (
          <span class="person-actions">
            <button type="button" aria-label={text("editNamed", { name })} onClick={actions.onEdit}>
              {text("edit")}
            </button>
            <button type="button" aria-label={text("rotateNamed", { name })} onClick={actions.onRotate}>
              {text("rotate")}
            </button>
            <button type="button" aria-label={text("revokeNamed", { name })} onClick={actions.onRevoke}>
              {text("revoke")}
            </button>
            <button
              type="button"
              class="danger"
              aria-label={text("eraseNamed", { name })}
              onClick={actions.onErase}
            >
              {text("erase")}
            </button>
          </span>
        )}
      </div>
      {(models || upstreams) && (
        <p class="dim">
          {[
            ...(models ? [text("onlyModels", { list: models.join(", ") })] : []),
            ...(upstreams ? [text("onlyUpstreams", { list: upstreams.join(", ") })] : []),
          ].join(" · ")}
        </p>
      )}
      {budgets.length === 0 ? (
        <p class="dim">{text("noBudget")}</p>
      ) : (
        budgets.map((budget) => <BudgetBar key={budget.id} budget={budget} />)
      )}
      <p class="person-usage">
        <span class="dim">{text("usage")}</span> <span class="number">{describeUsage(usage)}</span>
      </p>
    </li>
  );
}

function describeToken(tokens: Person["tokens"]): string {
  const valid = tokens.filter(({ isValid }) => isValid).at(-1);
  if (!valid) return text("tokenEnded");
  return valid.expiresAt === null
    ? text("tokenValid")
    : text("tokenUntil", { day: formatDay(valid.expiresAt) });
}

function describeUsage(usage: UsageRow | undefined): string {
  if (!usage) return text("noUsage");
  const { cost, requests, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage.totals;
  return text("usageWords", {
    cost: formatMoney(cost),
    requests: formatShort(requests),
    tokens: formatShort(inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens),
  });
}
