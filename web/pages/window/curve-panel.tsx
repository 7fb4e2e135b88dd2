import { useMemo, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { Chart } from "../../components/chart.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { describeReason } from "../../session/edit-reason.ts";
import { formatBreakEven, formatChange, nameEditType, ReceiptFacts } from "../../session/receipt-facts.tsx";
import { revertEdit } from "../../session/revert-edit.ts";
import { sessionText } from "../../session/session-text.ts";
import { linkToEntry } from "../../shell/links.ts";
import { type Curve, type CurveEdit, findNearestEdit, toColumns } from "./curve-data.ts";
import { windowText as text } from "./window-text.ts";

/** An edit shows its receipt if the pointer is within this share of the chart's width. */
const NEAR_SHARE = 0.008;

interface CurvePanelProps {
  readonly session: string;
  readonly curve: Resource<Curve>;
  readonly onChanged: () => void;
}

/** The window and its cached part over the conversation, with every edit. */
export function CurvePanel({ session, curve, onChanged }: CurvePanelProps) {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("course")}</h2>
        {curve.value && (
          <span class="dim number">
            {text("courseCounts", {
              requests: formatCount(curve.value.requests),
              edits: formatCount(curve.value.edits.length),
            })}
          </span>
        )}
      </div>
      <ResourceView resource={curve}>
        {(value) =>
          value.tokens.length === 0 ? (
            <EmptyState title={text("noCourse")} hint={text("noCourseHint")} />
          ) : (
            <CurveChart session={session} curve={value} onChanged={onChanged} />
          )
        }
      </ResourceView>
    </section>
  );
}

function CurveChart({
  session,
  curve,
  onChanged,
}: Omit<CurvePanelProps, "curve"> & { readonly curve: Curve }) {
  const columns = useMemo(() => toColumns(curve), [curve]);
  const series = useMemo(
    () => [
      { label: text("seriesWindow"), values: columns.tokens, color: 1, format: formatShort },
      { label: text("seriesCached"), values: columns.cached, color: 2, isFilled: true, format: formatShort },
    ],
    [columns],
  );
  const [hovered, setHovered] = useState<number | null>(null);
  const [picked, setPicked] = useState<number>();
  const { edits } = curve;
  const distance = Math.max(1, Math.round(columns.x.length * NEAR_SHARE));
  const near = hovered === null ? undefined : findNearestEdit(edits, hovered, distance);
  const shown = near ?? (hovered === null ? picked : undefined);
  const edit = shown === undefined ? undefined : edits[shown];
  const pick = (index: number | undefined) => setPicked(index);
  return (
    <>
      <div class="card chart-card">
        <ul class="legend">
          <li>
            <i class="dot part-1" /> {text("seriesWindow")}
          </li>
          <li>
            <i class="dot part-2" /> {text("seriesCached")}
          </li>
          {edits.length > 0 && (
            <li>
              <i class="tick" /> {text("seriesEdits")}
            </li>
          )}
          {curve.stretch > 1 && <li>{text("stretch", { count: formatCount(curve.stretch) })}</li>}
        </ul>
        <Chart
          label={text("courseLabel", {
            requests: formatCount(curve.requests),
            edits: formatCount(edits.length),
          })}
          x={columns.x}
          series={series}
          marks={columns.marks}
          height={240}
          formatX={formatCount}
          onHover={setHovered}
          onPick={(index) => pick(findNearestEdit(edits, index, distance))}
        />
        <p class="readout number" aria-live="off">
          {edit ? (
            <EditLine edit={edit} />
          ) : hovered !== null ? (
            <RequestLine curve={curve} index={hovered} />
          ) : (
            <span class="dim">{text(edits.length > 0 ? "hoverHint" : "hoverHintPlain")}</span>
          )}
        </p>
      </div>
      {edits.length > 0 && (
        <div class="edit-steps">
          <button
            type="button"
            data-edit-step="-1"
            disabled={picked === 0}
            onClick={() => pick(picked === undefined ? edits.length - 1 : picked - 1)}
          >
            ← {text("previousEdit")}
          </button>
          <span class="dim number">
            {picked === undefined
              ? text("editCount", { count: formatCount(edits.length) })
              : text("editOf", { number: formatCount(picked + 1), count: formatCount(edits.length) })}
          </span>
          <button
            type="button"
            data-edit-step="1"
            disabled={picked === undefined || picked === edits.length - 1}
            onClick={() => pick((picked ?? -1) + 1)}
          >
            {text("nextEdit")} →
          </button>
        </div>
      )}
      {picked !== undefined && edits[picked] && (
        <EditCard
          key={edits[picked].overlay}
          session={session}
          edit={edits[picked]}
          onChanged={onChanged}
          onClose={() => pick(undefined)}
        />
      )}
    </>
  );
}

function RequestLine({ curve, index }: { readonly curve: Curve; readonly index: number }) {
  return (
    <>
      <b>{text("request", { number: formatCount(index * curve.stretch + 1) })}</b>
      <span>{text("windowIs", { tokens: formatCount(curve.tokens[index]) })}</span>
      <span>{text("cachedIs", { share: formatShare(curve.cacheShares[index], 1) })}</span>
      <span>{formatMoney(curve.costs[index])}</span>
      <span class="dim">{formatTime(curve.times[index])}</span>
    </>
  );
}

/** The receipt of an edit in one line. */
function EditLine({ edit }: { readonly edit: CurveEdit }) {
  const { type, reason, tokens, thisCall, nextCalls, leftEntries, breakEvenCalls } = edit;
  const paysOff = thisCall === null ? undefined : { breakEvenCalls };
  return (
    <>
      <b class="warm">{nameEditType(type)}</b>
      <span>{describeReason(reason)}</span>
      <span>{text("leftMessages", { count: formatCount(leftEntries) })}</span>
      <span>
        {sessionText("change", { from: formatShort(tokens?.without), to: formatShort(tokens?.with) })}
      </span>
      <span>
        {sessionText("thisCall")} {formatChange(thisCall)}
      </span>
      <span>
        {sessionText("nextCalls")} {formatChange(nextCalls)}
      </span>
      <span>
        {sessionText("breakEven")} {formatBreakEven(paysOff)}
      </span>
    </>
  );
}

interface EditCardProps {
  readonly session: string;
  readonly edit: CurveEdit;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** One edit with its whole receipt and Undo. */
function EditCard({ session, edit, onChanged, onClose }: EditCardProps) {
  const receipt = useResource(
    (signal) =>
      call(
        "GET /sessions/{session}/receipts/{overlay}",
        { params: { session, overlay: edit.seq } },
        { signal },
      ),
    [edit.overlay, edit.isHolding],
  );
  return (
    <section class="card edit-card" aria-label={nameEditType(edit.type)}>
      <div class="section-head">
        <h3>
          {nameEditType(edit.type)} <a href={linkToEntry(session, edit.seq)}>#{edit.seq}</a>{" "}
          <span class="dim">{formatTime(edit.at)}</span>
        </h3>
        <span class="actions">
          {edit.isHolding ? (
            <button type="button" onClick={() => void revertEdit(session, edit.seq, onChanged)}>
              {sessionText(edit.type === "revert" ? "redo" : "undo")}
            </button>
          ) : (
            <span class="dim">{sessionText("notInEffect")}</span>
          )}
          <button type="button" class="quiet" onClick={onClose}>
            {text("closeEdit")}
          </button>
        </span>
      </div>
      <ResourceView resource={receipt}>{(value) => <ReceiptFacts edit={value} />}</ResourceView>
    </section>
  );
}
