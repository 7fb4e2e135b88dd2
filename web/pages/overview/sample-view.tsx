import { useMemo } from "preact/hooks";
import { SAMPLE_SESSION } from "../../../src/server/api/sample/sample-session.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { Chart } from "../../components/chart.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { formatCount, formatShare, formatShort } from "../../format/number.ts";
import { language } from "../../i18n/language.ts";
import { linkToEntry, linkToSession, linkToWindow } from "../../shell/links.ts";
import { overviewText as text } from "./overview-text.ts";
import { replaySample, SAMPLE_WINDOW } from "./replay-sample.ts";

type Replay = NonNullable<Reply<"GET /jobs/{job}">["replay"]>;
type Policy = Replay["policies"][number];

const EXCERPT = 6;

/** The bundled conversation: its windows under all policies, and how it begins. */
export function SampleView() {
  const replay = useResource(replaySample, []);
  const page = useResource(
    (signal) =>
      call(
        "GET /sessions/{session}/entries",
        { params: { session: SAMPLE_SESSION }, query: { around: "3", limit: 12, kinds: ["message"] } },
        { signal },
      ),
    [],
  );
  return (
    <section class="section sample">
      <div class="section-head">
        <h2>
          {text("sampleTitle")} <span class="pill">{text("sampleLabel")}</span>
        </h2>
        <span class="actions flush">
          <a href={linkToSession(SAMPLE_SESSION)}>{text("sampleRead")}</a>
          <a href={linkToWindow(SAMPLE_SESSION)}>{text("sampleWindow")}</a>
        </span>
      </div>
      <p class="dim lead">{text("sampleHint", { window: formatCount(SAMPLE_WINDOW) })}</p>
      <ResourceView resource={replay}>{(result) => <Policies replay={result} />}</ResourceView>
      <ResourceView resource={page}>
        {({ entries }) => (
          <ol class="excerpt card">
            {entries
              .flatMap((entry) =>
                entry.kind === "message" &&
                (entry.message.role === "user" || entry.message.role === "assistant")
                  ? [entry]
                  : [],
              )
              .map((entry) => ({
                entry,
                said: entry.message.parts
                  .flatMap((part) => (part.type === "text" ? [part.text] : []))
                  .join("\n\n"),
              }))
              .filter(({ said }) => said !== "")
              .slice(0, EXCERPT)
              .map(({ entry, said }) => (
                <li key={entry.id}>
                  <a class="speaker dim" href={linkToEntry(SAMPLE_SESSION, entry.seq)}>
                    {text(entry.message.role === "user" ? "speakerUser" : "speakerAgent")}
                  </a>
                  <Markdown text={said} />
                </li>
              ))}
          </ol>
        )}
      </ResourceView>
    </section>
  );
}

function Policies({ replay }: { readonly replay: Replay }) {
  const { policies } = replay;
  const chosen = language.value;
  const { x, series } = useMemo(() => {
    const length = Math.max(...policies.map(({ curve }) => curve.length), 0);
    return {
      x: Array.from({ length }, (_, index) => index + 1),
      series: policies.map(({ policy, curve }, index) => ({
        label: policy,
        values: curve.map(({ tokens }) => tokens),
        color: index + 1,
        isFilled: index === 0,
        isDashed: index > 0,
        format: formatShort,
      })),
    };
  }, [policies, chosen]);
  return (
    <div class="policies">
      <div class="card">
        <h3>{text("sampleCurve")}</h3>
        <Chart
          label={text("sampleCurve")}
          x={x}
          xLabel={text("sampleRequest")}
          formatX={formatCount}
          series={series}
          height={220}
        />
      </div>
      <div>
        <Table
          caption={text("samplePolicies")}
          rows={policies}
          columns={buildColumns()}
          keyOf={({ policy }) => policy}
        />
        <p class="dim hint">{text("costHint")}</p>
      </div>
    </div>
  );
}

function buildColumns(): readonly Column<Policy>[] {
  return [
    { name: text("policy"), cell: ({ policy }) => (policy === "longhaul" ? <b>{policy}</b> : policy) },
    { name: text("costShare"), isNumber: true, cell: ({ costShare }) => formatShare(costShare) },
    { name: text("peak"), isNumber: true, isMinor: true, cell: ({ peakTokens }) => formatShort(peakTokens) },
    { name: text("edits"), isNumber: true, cell: ({ edits }) => formatCount(edits) },
    { name: text("kept"), isNumber: true, cell: ({ identifiers }) => formatShare(identifiers) },
  ];
}
