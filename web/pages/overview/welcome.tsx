import { ImportHistories } from "./import-histories.tsx";
import { overviewText as text } from "./overview-text.ts";
import { SampleView } from "./sample-view.tsx";

/** The first page of an empty store: import what is here, connect an agent, or look at the sample. */
export function Welcome({ onImported }: { readonly onImported: () => void }) {
  return (
    <>
      <h1>{text("welcome")}</h1>
      <p class="lead dim">{text("welcomeHint")}</p>
      <div class="welcome">
        <ImportHistories onImported={onImported} />
        <section class="card">
          <h2>{text("connectTitle")}</h2>
          <p class="dim">{text("connectHint")}</p>
          <p class="actions">
            <a class="button" href="/connect">
              {text("connectAction")}
            </a>
          </p>
        </section>
      </div>
      <SampleView />
    </>
  );
}
