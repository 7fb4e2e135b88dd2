import { useMemo, useState } from "preact/hooks";
import { ApiFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { Chart } from "../../components/chart.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { Select } from "../../components/select.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { formatCount, formatShare, formatShort } from "../../format/number.ts";
import { type Job, useJob } from "./use-job.ts";
import { windowText as text } from "./window-text.ts";

type Replay = NonNullable<Job["replay"]>;
type Score = Replay["policies"][number];

/** The policy that the gateway uses unless a request names another one. */
const OWN_POLICY = "longhaul";
const MIN_WINDOW = 1_000;

interface PolicyPanelProps {
  readonly session: string;
  /** The window of the model, in tokens. */
  readonly window: number | undefined;
}

/** "Try another policy": the conversation is replayed under all of them, and two curves are drawn. */
export function PolicyPanel({ session, window }: PolicyPanelProps) {
  const { job, failure, start, stop } = useJob();
  const [size, setSize] = useState<string>();
  const chosen = Number(size ?? window ?? 0);
  const isRunning = job?.state === "running";
  const run = () =>
    start(() => call("POST /replays", { body: { session, window: Math.round(chosen), curves: true } }));
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("tryPolicy")}</h2>
      </div>
      <form
        class="policy-form"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <label>
          {text("windowSize")}
          <input
            type="number"
            min={MIN_WINDOW}
            max={10_000_000}
            step="any"
            value={size ?? window ?? ""}
            onInput={(event) => setSize(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isRunning || !(chosen >= MIN_WINDOW)}>
          {text("replay")}
        </button>
        {isRunning && (
          <>
            <span class="dim" role="status">
              {text("replaying")}
            </span>
            <button type="button" class="quiet" onClick={stop}>
              {text("stop")}
            </button>
          </>
        )}
        {!job && !failure && <span class="dim">{text("tryHint")}</span>}
        {job?.state === "stopped" && <span class="dim">{text("stopped")}</span>}
      </form>
      {failure && <ErrorState failure={failure} retry={run} />}
      {job?.error && <ErrorState failure={new ApiFailure(0, job.error)} retry={run} />}
      {job?.replay && <ReplayResult replay={job.replay} />}
    </section>
  );
}

function ReplayResult({ replay }: { readonly replay: Replay }) {
  const names = replay.policies.map(({ policy }) => policy);
  const [base, setBase] = useState(names.find((name) => name === OWN_POLICY) ?? names[0] ?? "");
  const [other, setOther] = useState(names.find((name) => name !== base) ?? base);
  const options = names.map((name) => ({ value: name, label: name }));
  return (
    <>
      <div class="card chart-card">
        <div class="policy-choice">
          <i class="dot part-1" />
          <Select label={text("firstPolicy")} value={base} options={options} onChange={setBase} />
          <i class="dot part-6" />
          <Select label={text("secondPolicy")} value={other} options={options} onChange={setOther} />
          <span class="dim number">
            {text("replayOf", { messages: formatCount(replay.messages), window: formatShort(replay.window) })}
          </span>
        </div>
        <TwoCurves replay={replay} base={base} other={other} />
      </div>
      <Scores replay={replay} />
    </>
  );
}

interface TwoCurvesProps {
  readonly replay: Replay;
  readonly base: string;
  readonly other: string;
}

function TwoCurves({ replay, base, other }: TwoCurvesProps) {
  const { x, series, marks } = useMemo(() => {
    const curveOf = (name: string) => replay.policies.find(({ policy }) => policy === name)?.curve ?? [];
    const [one, two] = [curveOf(base), curveOf(other)];
    const length = Math.max(one.length, two.length);
    const places = Array.from({ length }, (_, index) => index + 1);
    const values = (curve: Score["curve"]) => places.map((_, index) => curve[index]?.tokens ?? null);
    return {
      x: places,
      series: [
        { label: base, values: values(one), color: 1, format: formatShort },
        { label: other, values: values(two), color: 6, isDashed: true, format: formatShort },
      ],
      marks: one.flatMap(({ isEdited }, index) => (isEdited ? [index] : [])),
    };
  }, [replay, base, other]);
  return (
    <Chart
      label={text("twoCurves", { base, other })}
      x={x}
      series={series}
      marks={marks}
      height={220}
      formatX={formatCount}
    />
  );
}

function Scores({ replay }: { readonly replay: Replay }) {
  const columns: readonly Column<Score>[] = [
    { name: text("policy"), cell: ({ policy }) => policy },
    { name: text("costShare"), cell: ({ costShare }) => formatShare(costShare, 1), isNumber: true },
    {
      name: text("fullCostShare"),
      cell: ({ fullCostShare }) => formatShare(fullCostShare, 1),
      isNumber: true,
    },
    { name: text("peak"), cell: ({ peakTokens }) => formatShort(peakTokens), isNumber: true, isMinor: true },
    { name: text("edits"), cell: ({ edits }) => formatCount(edits), isNumber: true, isMinor: true },
    { name: text("kept"), cell: ({ identifiers }) => formatShare(identifiers, 1), isNumber: true },
  ];
  const rows = replay.policies.toSorted((one, two) => one.fullCostShare - two.fullCostShare);
  return (
    <div class="scores">
      <Table caption={text("scores")} rows={rows} columns={columns} keyOf={({ policy }) => policy} />
      <p class="dim">{text("scoresHint")}</p>
    </div>
  );
}
