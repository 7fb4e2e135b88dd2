import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatCount, formatShare } from "../../format/number.ts";
import { setQuery } from "../../shell/router.ts";
import { HitCard } from "./hit-card.tsx";
import { memoryText as text } from "./memory-text.ts";

const STEPS = [10, 30, 100] as const;

/** Asks memory, and explains the place of each hit. The question stands in the address. */
export function RecallView({ query }: { readonly query: URLSearchParams }) {
  const question = query.get("q")?.trim() ?? "";
  const isRewound = query.get("rewound") === "true";
  const k = STEPS.find((step) => String(step) === query.get("k")) ?? STEPS[0];
  return (
    <>
      <form
        class="recall-form"
        onSubmit={(event) => {
          event.preventDefault();
          const asked = new FormData(event.currentTarget).get("question")?.toString().trim();
          setQuery({ q: asked, k: undefined });
        }}
      >
        <input
          key={question}
          type="search"
          name="question"
          maxLength={4_000}
          defaultValue={question}
          aria-label={text("question")}
          placeholder={text("questionHint")}
          autocomplete="off"
        />
        <button type="submit" class="primary">
          {text("ask")}
        </button>
      </form>
      <div class="recall-options">
        <label class="check">
          <input
            type="checkbox"
            checked={isRewound}
            onChange={(event) => setQuery({ rewound: event.currentTarget.checked ? "true" : undefined })}
          />
          {text("rewound")}
        </label>
      </div>
      {question ? (
        <RecallResult {...{ question, isRewound, k }} />
      ) : (
        <EmptyState title={text("noQuestion")} hint={text("noQuestionHint")} />
      )}
    </>
  );
}

interface RecallResultProps {
  readonly question: string;
  readonly isRewound: boolean;
  readonly k: (typeof STEPS)[number];
}

function RecallResult({ question, isRewound, k }: RecallResultProps) {
  const recall = useResource(
    (signal) => call("GET /recall", { query: { q: question, rewound: isRewound, k } }, { signal }),
    [question, isRewound, k],
  );
  const next = STEPS.find((step) => step > k);
  return (
    <ResourceView resource={recall}>
      {({ hits, certainty, isSure, withoutVectors, unindexed }) => (
        <section aria-label={text("hits")} aria-busy={recall.isLoading}>
          <p class="recall-sum">
            <strong class={isSure ? "good" : "warm"}>{isSure ? text("sure") : text("unsure")}</strong>
            <span class="dim number">{text("certainty", { share: formatShare(certainty) })}</span>
          </p>
          {unindexed ? (
            <p class="warm">
              {text("notSearched", { count: formatCount(unindexed) })}{" "}
              <a href="/memory/sources">{text("seeIndex")}</a>
            </p>
          ) : null}
          {withoutVectors && <p class="dim">{text("withoutVectors", { reason: withoutVectors })}</p>}
          {hits.length === 0 ? (
            <EmptyState title={text("noHits")} hint={text("noHitsHint")} />
          ) : (
            <ol class="hits">
              {hits.map((hit, index) => (
                <HitCard
                  key={hit.kind === "session" ? `${hit.entry}:${hit.from}` : `${hit.path}:${hit.from}`}
                  hit={hit}
                  place={index + 1}
                />
              ))}
            </ol>
          )}
          {next && hits.length === k && (
            <p class="actions">
              <button type="button" onClick={() => setQuery({ k: String(next) })}>
                {text("moreHits")}
              </button>
            </p>
          )}
        </section>
      )}
    </ResourceView>
  );
}
