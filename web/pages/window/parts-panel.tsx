import type { Resource } from "../../api/use-resource.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Figure } from "../../components/figure.tsx";
import { type BarPart, PartsBar } from "../../components/parts-bar.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { ReceiptFacts } from "../../session/receipt-facts.tsx";
import { revertEdit } from "../../session/revert-edit.ts";
import type { Session, SessionWindow } from "../../session/session-types.ts";
import { REQUESTS_LINK } from "./request-table.tsx";
import { windowText as text } from "./window-text.ts";

/** The parts of a window in their order, with their colors. */
const PARTS = [
  ["system", 1],
  ["tools", 2],
  ["pins", 3],
  ["memories", 4],
  ["summaries", 5],
  ["recalled", 6],
  ["history", 7],
  ["reserved", 8],
] as const;

type Totals = Session["usage"];

interface PartsPanelProps {
  readonly session: string;
  readonly window: Resource<SessionWindow>;
  /** Undefined while it loads. */
  readonly totals: Totals;
  readonly onChanged: () => void;
}

/** The window of the next call by its parts, and what the calls so far have cost. */
export function PartsPanel({ session, window, totals, onChanged }: PartsPanelProps) {
  return (
    <ResourceView resource={window}>
      {(value) => (
        <>
          <section class="card parts-card">
            <div class="section-head">
              <h2>{text("nextCall")}</h2>
              <span class="number">
                {text("tokensOf", {
                  tokens: formatCount(value.tokens),
                  window: formatCount(value.limits.window),
                })}{" "}
                <span class="dim">{formatShare(value.tokens / value.limits.window)}</span>
              </span>
            </div>
            <PartsBar label={text("nextCall")} parts={listParts(value)} total={value.limits.window} />
            <PartsTable window={value} />
            <p class="dim facts">
              <span>{value.model ?? text("unknownModel")}</span>
              <span>{text("policyIs", { policy: value.policy })}</span>
              <span>{text(`cache_${value.cache}`)}</span>
              {value.policy !== "none" && <span>{describeMoment(value)}</span>}
            </p>
          </section>
          <Advice advice={value.advice} />
          <HeldContent session={session} held={value.held} onChanged={onChanged} />
          <Money totals={totals} />
          {value.plan && (
            <section class="card section">
              <h2>{text("planned")}</h2>
              <ReceiptFacts
                edit={{ author: "longhaul", reason: value.plan.reason, receipt: value.plan.receipt }}
              />
            </section>
          )}
        </>
      )}
    </ResourceView>
  );
}

/** The advice to begin a new conversation, with the text to begin it with. */
function Advice({ advice }: { readonly advice: SessionWindow["advice"] }) {
  if (!advice) return null;
  return (
    <section class="card section advice-card">
      <h2>{text("advice")}</h2>
      <p>{text("adviceWhy", { share: formatShare(advice.share) })}</p>
      <details>
        <summary>{text("carryOver")}</summary>
        <pre>{advice.carryOver}</pre>
      </details>
      <CopyButton text={advice.carryOver} label={text("copyCarryOver")} />
    </section>
  );
}

/** When content leaves the window; policies other than our own remove words like anything else. */
function describeMoment({ policy, limits }: SessionWindow): string {
  const from = formatShort(limits.from);
  return policy === "longhaul"
    ? text("editsFrom", { from, most: formatShort(limits.most) })
    : text("editsFromOther", { tokens: from });
}

function listParts({ parts }: SessionWindow): readonly BarPart[] {
  return PARTS.map(([name, color]) => ({ name: text(name), value: parts[name], color }));
}

/** Every part with its value, also those that are empty. */
function PartsTable({ window }: { readonly window: SessionWindow }) {
  const { parts } = window;
  return (
    <ul class="parts-list">
      {[...PARTS, ["free", 0] as const].map(([name, color]) => (
        <li key={name} class={parts[name] > 0 ? "" : "none"}>
          <i class={`dot part-${color}`} />
          <span>{text(name)}</span>
          <span class="number">{formatCount(Math.round(parts[name]))}</span>
        </li>
      ))}
    </ul>
  );
}

interface HeldContentProps {
  readonly session: string;
  readonly held: SessionWindow["held"];
  readonly onChanged: () => void;
}

/** Content that people have brought back by taking edits back, and the way to release it. */
function HeldContent({ session, held, onChanged }: HeldContentProps) {
  if (held.length === 0) return null;
  return (
    <section class="card section held-card">
      <h2>{text("held")}</h2>
      <ul>
        {held.map(({ revert, messages, tokens, messagesLeft }) => (
          <li key={`${revert.session}#${revert.seq}`}>
            <span>
              {text("heldShown", {
                messages: formatCount(messages),
                tokens: formatCount(Math.round(tokens)),
                seq: String(revert.seq),
              })}
              {messagesLeft > 0 && ` ${text("heldLeft", { count: formatCount(messagesLeft) })}`}
            </span>
            {revert.session === session && (
              <button type="button" onClick={() => void revertEdit(session, revert.seq, onChanged)}>
                {text("release")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Money({ totals }: { readonly totals: Totals }) {
  const requests = totals?.requests ?? 0;
  const hasCalls = totals !== undefined && requests > 0;
  const prompt = hasCalls ? totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens : undefined;
  const unpriced = totals?.unpricedRequests ?? 0;
  const isPriced = hasCalls && unpriced < requests;
  const link = hasCalls ? { href: REQUESTS_LINK } : {};
  return (
    <div class="figures section">
      <Figure
        label={`↑ ${text("sent")}`}
        value={formatShort(prompt)}
        note={hasCalls ? text("requests", { count: formatCount(requests) }) : text("noRequests")}
        {...link}
      />
      <Figure
        label={`↓ ${text("received")}`}
        value={formatShort(hasCalls ? totals.outputTokens : undefined)}
        note={text("outputTokens")}
        {...link}
      />
      <Figure
        label={text("cacheShare")}
        value={formatShare(prompt ? (totals?.cacheReadTokens ?? 0) / prompt : undefined, 1)}
        note={text("cacheRead", { tokens: formatShort(hasCalls ? totals.cacheReadTokens : undefined) })}
        {...link}
      />
      <Figure
        label={text("cost")}
        value={formatMoney(isPriced ? totals.cost : undefined)}
        note={unpriced > 0 ? text("unpriced", { count: formatCount(unpriced) }) : text("wholeConversation")}
        {...link}
      />
    </div>
  );
}
