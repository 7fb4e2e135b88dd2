import type { ComponentChildren } from "preact";
import { formatCount, formatMoney, formatShare, formatShort } from "../format/number.ts";
import { shellText } from "../i18n/shell-text.ts";
import { describeReason } from "./edit-reason.ts";
import { sessionText as text } from "./session-text.ts";
import type { OverlayEntry, Receipt } from "./session-types.ts";

interface ReceiptFactsProps {
  readonly edit: Pick<
    OverlayEntry,
    "reason" | "author" | "receipt" | "summary" | "tokensBefore" | "tokensAfter"
  >;
}

/** The receipt of an edit: what left, why, its price and its break-even. Unknown figures are "n/a". */
export function ReceiptFacts({ edit }: ReceiptFactsProps) {
  const { reason, author, receipt, summary, tokensBefore, tokensAfter } = edit;
  const left = (receipt ?? summary)?.left;
  const tokens = receipt?.tokens ?? { without: tokensBefore, with: tokensAfter };
  return (
    <>
      <dl class="receipt">
        <Fact name={text("why")}>
          {describeReason(reason)}
          {receipt?.isForced && <span class="dim"> {text("forced")}</span>}
        </Fact>
        <Fact name={text("made")}>
          {receipt && receipt.policy !== author ? `${author} · ${receipt.policy}` : author}
        </Fact>
        <Fact name={text("messagesLeft")} isNumber>
          {formatCount(left?.entries)}
        </Fact>
        <Fact name={text("tokens")} isNumber>
          {text("change", { from: formatShort(tokens.without), to: formatShort(tokens.with) })}
        </Fact>
        <Fact name={text("cached")} isNumber>
          {text("change", {
            from: formatShare(receipt?.cachedShare.without),
            to: formatShare(receipt?.cachedShare.with),
          })}
        </Fact>
        <Fact name={text("thisCall")} isNumber>
          {formatChange(receipt?.thisCall)}
        </Fact>
        <Fact name={text("nextCalls")} isNumber>
          {formatChange(receipt?.nextCalls)}
        </Fact>
        <Fact name={text("breakEven")}>
          {formatBreakEven(receipt)}
          {receipt && (
            <span class="dim">
              {" "}
              ({text("expectedCalls", { count: formatCount(Math.round(receipt.expectedCalls)) })})
            </span>
          )}
        </Fact>
        {receipt?.thinking && (
          <Fact name={text("thinking")}>
            {text("thinkingLost", {
              count: formatCount(receipt.thinking.replies),
              tokens: formatShort(receipt.thinking.tokens),
            })}
          </Fact>
        )}
        {summary && (
          <Fact name={text("summaryCost")}>
            {formatMoney(summary.cost)} <span class="dim">{summary.by}</span>
          </Fact>
        )}
        <Fact name={text("lost")} isWide>
          <LostNames left={left} />
        </Fact>
      </dl>
      {receipt?.arePricesAssumed && <p class="dim">{text("assumedPrices")}</p>}
    </>
  );
}

/** The names that an edit removed from the window: its loss report. */
export function LostNames({ left }: { readonly left: Receipt["left"] | undefined }) {
  if (!left) return <>{shellText("notAvailable")}</>;
  if (left.identifiers === 0) return <>{text("nothingLost")}</>;
  return (
    <>
      {left.named.map((name) => (
        <code key={name} class="lost-name">
          {name}
        </code>
      ))}
      <span class="dim">{text("lostCount", { count: formatCount(left.identifiers) })}</span>
    </>
  );
}

interface Comparison {
  readonly without: number;
  readonly with: number;
}

/** Formats dollars without and with an edit, with more digits if cents do not tell them apart. */
export function formatChange(money: Comparison | null | undefined): string {
  if (!money) return text("change", { from: formatMoney(undefined), to: formatMoney(undefined) });
  const { without, with: after } = money;
  const isSame = formatMoney(without) === formatMoney(after) && without !== after;
  const format = (value: number) => formatMoney(value, isSame ? 4 : undefined);
  return text("change", { from: format(without), to: format(after) });
}

/** Says when an edit has paid for itself. */
export function formatBreakEven(receipt: Pick<Receipt, "breakEvenCalls"> | undefined): string {
  const calls = receipt?.breakEvenCalls;
  if (calls === undefined) return shellText("notAvailable");
  if (calls === null) return text("breakEvenNever");
  return calls <= 0
    ? text("breakEvenAtOnce")
    : text("breakEvenCalls", { count: formatCount(Math.ceil(calls)) });
}

function Fact({
  name,
  isNumber = false,
  isWide = false,
  children,
}: {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={isWide ? "wide" : ""}>
      <dt>{name}</dt>
      <dd class={isNumber ? "number" : ""}>{children}</dd>
    </div>
  );
}

const TYPE_TEXTS = {
  plan: "typePlan",
  replace: "typeReplace",
  hide: "typeHide",
  summarize: "typeSummarize",
  revert: "typeRevert",
} as const;

/** The name of a kind of edit. */
export function nameEditType(type: keyof typeof TYPE_TEXTS): string {
  return text(TYPE_TEXTS[type]);
}
