import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatCount, formatMoney, formatShort } from "../../format/number.ts";
import { diffTexts } from "../../session/diff.ts";
import { DiffView } from "../../session/diff-view.tsx";
import { toPlainText } from "../../session/message-text.ts";
import { LostNames } from "../../session/receipt-facts.tsx";
import { revertEdit } from "../../session/revert-edit.ts";
import { sessionText } from "../../session/session-text.ts";
import { windowText as text } from "./window-text.ts";

type Compaction = NonNullable<Reply<"POST /sessions/{session}/compact">["result"]>;

interface CompactionPanelProps {
  readonly session: string;
  readonly onChanged: () => void;
}

/** A summary of older messages: shown with its diff and its losses before it is applied. */
export function CompactionPanel({ session, onChanged }: CompactionPanelProps) {
  const [model, setModel] = useState("");
  const [instructions, setInstructions] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const [preview, setPreview] = useState<Compaction | null>();
  const compact = async (dryRun: boolean) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { result } = await call("POST /sessions/{session}/compact", {
        params: { session },
        body: {
          dryRun,
          ...(model.trim() && { model: model.trim() }),
          ...(instructions.trim() && { instructions: instructions.trim() }),
        },
      });
      setPreview(dryRun ? result : undefined);
      if (!dryRun) announce(result);
    } catch (error) {
      setFailure(toFailure(error));
    }
    setBusy(false);
  };
  const announce = (result: Compaction | null) => {
    onChanged();
    const overlay = result?.overlay;
    showToast(
      text("applied"),
      overlay === undefined
        ? undefined
        : { label: sessionText("undo"), run: () => void revertEdit(session, overlay, onChanged) },
    );
  };
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("summary")}</h2>
      </div>
      <form
        class="policy-form"
        onSubmit={(event) => {
          event.preventDefault();
          void compact(true);
        }}
      >
        <label>
          {text("summaryModel")}
          <input
            value={model}
            placeholder={text("summaryModelNone")}
            autocomplete="off"
            onInput={(event) => setModel(event.currentTarget.value)}
          />
        </label>
        <label class="wide">
          {text("instructions")}
          <input
            value={instructions}
            maxLength={10_000}
            onInput={(event) => setInstructions(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isBusy}>
          {text("preview")}
        </button>
      </form>
      {failure && <ErrorState failure={failure} />}
      {preview === null && <p class="dim">{text("nothingToSummarize")}</p>}
      {preview === undefined && !failure && <p class="dim">{text("summaryHint")}</p>}
      {preview && (
        <Preview
          preview={preview}
          isBusy={isBusy}
          onApply={() => void compact(false)}
          onDrop={() => setPreview(undefined)}
        />
      )}
    </section>
  );
}

interface PreviewProps {
  readonly preview: Compaction;
  readonly isBusy: boolean;
  readonly onApply: () => void;
  readonly onDrop: () => void;
}

function Preview({ preview, isBusy, onApply, onDrop }: PreviewProps) {
  const { rung, failed, tokens, left, cost, summary, changes } = preview;
  return (
    <div class="card preview">
      <dl class="receipt">
        <div>
          <dt>{sessionText("tokens")}</dt>
          <dd class="number">
            {sessionText("change", { from: formatShort(tokens.without), to: formatShort(tokens.with) })}
          </dd>
        </div>
        <div>
          <dt>{sessionText("messagesLeft")}</dt>
          <dd class="number">{formatCount(left.entries)}</dd>
        </div>
        <div>
          <dt>{text("madeBy")}</dt>
          <dd>{text(`rung_${rung}`)}</dd>
        </div>
        <div>
          <dt>{sessionText("summaryCost")}</dt>
          <dd class="number">{formatMoney(rung === "model" || rung === "fallback" ? cost : 0)}</dd>
        </div>
      </dl>
      {failed.map(({ rung: name, reason }) => (
        <p key={name} class="warm">
          {text("rungFailed", { name, reason })}
        </p>
      ))}
      <h3>{text("loss")}</h3>
      <p>
        <LostNames left={left} />
      </p>
      <h3>{text("summaryText")}</h3>
      <div class="summary-text">
        <Markdown text={summary} />
      </div>
      <h3>{text("changes")}</h3>
      <ul class="changes">
        {changes.slice(0, 300).map((change, index) => (
          <Change key={`${change.place} ${index}`} change={change} />
        ))}
      </ul>
      <p class="actions">
        <button type="button" class="primary" disabled={isBusy} onClick={onApply}>
          {text("apply")}
        </button>
        <button type="button" disabled={isBusy} onClick={onDrop}>
          {text("drop")}
        </button>
        <span class="dim">{text("applyHint")}</span>
      </p>
    </div>
  );
}

const SIGNS = { leaves: "−", comes: "+", changes: "±", stays: " " } as const;

/** A message that leaves, comes or changes; its diff is made when it is opened. */
function Change({ change }: { readonly change: Compaction["changes"][number] }) {
  const [isOpen, setOpen] = useState(false);
  const { type, place, before, after } = change;
  const [old, now] = [before ? toPlainText(before) : "", after ? toPlainText(after) : ""];
  const gist = (now || old).replace(/\s+/g, " ").slice(0, 140);
  return (
    <li class={`change-${type}`}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="sign">{SIGNS[type]}</span>
          <span class="dim number">{place}</span>
          <span class="gist">{gist}</span>
        </summary>
        {isOpen && <DiffView file={place} lines={diffTexts(old, now)} />}
      </details>
    </li>
  );
}
