import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { formatCount } from "../../format/number.ts";
import { ImportHistories } from "./import-histories.tsx";
import { overviewText as text } from "./overview-text.ts";

/** Warns of conversations that agents on this computer delete before the store has them. Only the local person sees it. */
export function ThreatenedHistories() {
  const known = useResource((signal) => call("GET /imports/histories", {}, { signal }), []);
  const threatened = known.value?.histories.filter((one) => one.deletedWithin30Days > 0) ?? [];
  if (threatened.length === 0) return null;
  const sum = (count: (one: (typeof threatened)[number]) => number) =>
    formatCount(threatened.reduce((total, one) => total + count(one), 0));
  return (
    <>
      <section class="card" role="alert">
        <h2>{text("threatenedTitle")}</h2>
        <p>
          {text("threatened", {
            agents: threatened.map(({ title }) => title).join(", "),
            month: sum((one) => one.deletedWithin30Days),
            week: sum((one) => one.deletedWithin7Days),
          })}
        </p>
      </section>
      <ImportHistories onImported={known.reload} />
    </>
  );
}
