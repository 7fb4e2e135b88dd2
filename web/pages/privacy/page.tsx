import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { privacyText as text } from "./privacy-text.ts";

const SECTIONS = ["stored", "leaves", "readers", "erased", "secrets", "proof"] as const;

/** What this gateway stores, who reads it and how it is erased: a page that can be printed and signed. */
export default function PrivacyPage() {
  const gateway = useResource((signal) => call("GET /gateway", {}, { signal }), []);
  return (
    <article class="privacy">
      <h1>{text("title")}</h1>
      <p class="dim">{text("intro")}</p>
      <ResourceView resource={gateway}>
        {({ settings, upstreams }) => (
          <>
            <p>
              <b>{text(settings.redact ? "redactionOn" : "redactionOff")}</b>
            </p>
            <p>{text("providers", { list: upstreams.map(({ name }) => name).join(", ") })}</p>
          </>
        )}
      </ResourceView>
      {SECTIONS.map((name) => (
        <section key={name} class="section">
          <h2>{text(name)}</h2>
          <p>{text(`${name}Words`)}</p>
        </section>
      ))}
      <p class="section dim">{text("signature")}</p>
    </article>
  );
}
