import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { readEntryText } from "../../format/entry-text.ts";

/** The messages around a hit. */
export function HitSurroundings({ entry }: { readonly entry: string }) {
  const found = useResource(
    (signal) => call("GET /expand", { query: { entry, around: 2 } }, { signal }),
    [entry],
  );
  return (
    <ResourceView resource={found}>
      {({ entries }) => (
        <ol class="surroundings">
          {entries.map((one) => (
            <li key={one.id} class={one.id === entry ? "is-hit" : ""}>
              <span class="dim">{one.kind === "message" ? one.message.role : one.kind}</span>
              <p>{readEntryText(one)}</p>
            </li>
          ))}
        </ol>
      )}
    </ResourceView>
  );
}
