import { formatCount, formatMoney, formatShort } from "../../format/number.ts";
import { formatClock, formatTime } from "../../format/time.ts";
import { describeReason } from "../../session/edit-reason.ts";
import { formatBreakEven, nameEditType, ReceiptFacts } from "../../session/receipt-facts.tsx";
import { sessionText } from "../../session/session-text.ts";
import type { OverlayEntry } from "../../session/session-types.ts";
import { linkToEntry } from "../../shell/links.ts";
import { conversationText as text } from "./conversation-text.ts";
import { describeEdit, listSingleEdits } from "./edit-targets.ts";

/** What a reader can do with an edit of the window. */
export interface EditActions {
  readonly session: string;
  /** The edits of a plan that are in effect; undefined while it is not known, null if the overlay is not in effect. */
  readonly holdingEdits: (overlay: OverlayEntry) => readonly number[] | null | undefined;
  readonly revert: (overlay: OverlayEntry, edit?: number) => void;
  readonly chooseLine: (line: number) => void;
}

interface EditRowProps {
  readonly entry: OverlayEntry;
  readonly mark: string;
  readonly actions: EditActions;
}

/** An edit of the window at its place: what left, why, its price and its break-even, and Undo. */
export function EditRow({ entry, mark, actions }: EditRowProps) {
  const holding = actions.holdingEdits(entry);
  const type = entry.edit.type;
  const isRevert = type === "revert";
  return (
    <article class={`edit${mark}${holding === null ? " over" : ""}`} data-seq={entry.seq} tabIndex={-1}>
      <details>
        <summary>
          <b>{nameEditType(type)}</b>
          <span class="edit-gist">{describeGist(entry)}</span>
        </summary>
        <ReceiptFacts edit={entry} />
        <EditList entry={entry} actions={actions} holding={holding} />
      </details>
      <span class="edit-state">
        <time class="dim number" title={formatTime(entry.madeAt ?? entry.at)}>
          {formatClock(entry.madeAt ?? entry.at)}
        </time>
        <a class="dim number" href={linkToEntry(actions.session, entry.seq)}>
          #{entry.seq}
        </a>
        {holding === null && <span class="dim">{sessionText("notInEffect")}</span>}
        {holding && (
          <button type="button" onClick={() => actions.revert(entry)}>
            {sessionText(isRevert ? "redo" : "undo")}
          </button>
        )}
      </span>
    </article>
  );
}

/** The main figures in one line; unknown ones are left to the receipt, which says "n/a". */
function describeGist({ receipt, summary, tokensBefore, tokensAfter, reason, edit }: OverlayEntry): string {
  if (edit.type === "revert") return `#${edit.overlay}`;
  const tokens = receipt?.tokens ?? { without: tokensBefore, with: tokensAfter };
  const left = (receipt ?? summary)?.left.entries;
  const pieces = [
    left ? text("left", { count: formatCount(left) }) : describeReason(reason),
    ...(tokens.without === undefined
      ? []
      : [sessionText("change", { from: formatShort(tokens.without), to: formatShort(tokens.with) })]),
    ...(receipt
      ? [
          describePrice(receipt.thisCall.with - receipt.thisCall.without),
          text("paysOff", { when: formatBreakEven(receipt) }),
        ]
      : []),
  ];
  return pieces.join(" · ");
}

function describePrice(dollars: number): string {
  return text(dollars > 0 ? "costsNow" : "savesNow", { price: formatMoney(Math.abs(dollars)) });
}

/** Single edits of a plan, each with its own Undo. */
function EditList({
  entry,
  actions,
  holding,
}: Omit<EditRowProps, "mark"> & { readonly holding: readonly number[] | null | undefined }) {
  const edits = listSingleEdits(entry.edit);
  if (edits.length === 0) return null;
  return (
    <ul class="edit-list">
      {edits.slice(0, 200).map((edit, index) => {
        const { label, seq } = describeEdit(edit);
        return (
          <li key={index}>
            <span>
              {nameEditType(edit.type)}{" "}
              {seq === undefined ? label : <a href={linkToEntry(actions.session, seq)}>{label}</a>}
            </span>
            {entry.edit.type === "plan" &&
              holding &&
              (holding.includes(index) ? (
                <button type="button" class="quiet" onClick={() => actions.revert(entry, index)}>
                  {sessionText("undo")}
                </button>
              ) : (
                <span class="dim">{sessionText("notInEffect")}</span>
              ))}
          </li>
        );
      })}
    </ul>
  );
}
