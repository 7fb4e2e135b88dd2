import "./connect.css";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { type Agent, AgentCard, WAYS } from "./agent-card.tsx";
import { ChangeDialog } from "./change-dialog.tsx";
import { connectText as text } from "./connect-text.ts";

/** The agents of this computer, connected and disconnected with their files in view. */
export default function ConnectPage({ query }: PageProps) {
  const agents = useResource((signal) => call("GET /agents", {}, { signal }), []);
  const agent = query.get("agent");
  const way = WAYS.find((one) => one === query.get("way")) ?? "gateway";
  const change = query.get("change") === "disconnect" ? "disconnect" : "connect";
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="dim connect-hint">{text("hint")}</p>
      <ResourceView resource={agents}>
        {({ url, agents: all }) => {
          const found = all.filter(({ isFound }) => isFound);
          const others = all.filter(({ isFound }) => !isFound);
          return (
            <>
              <p class="connect-url">
                <span class="dim">{text("address")}</span> <code>{url}</code> <CopyButton text={url} />
              </p>
              <section class="section">
                <h2 class="section-head">{text("found")}</h2>
                {found.length > 0 ? (
                  <AgentList agents={found} />
                ) : (
                  <EmptyState title={text("noneFound")} hint={text("noneFoundHint")} />
                )}
              </section>
              {others.length > 0 && (
                <details class="section connect-others">
                  <summary>{text("notFound", { count: others.length })}</summary>
                  <AgentList agents={others} />
                </details>
              )}
            </>
          );
        }}
      </ResourceView>
      {agent && (
        <ChangeDialog
          key={`${agent} ${way} ${change}`}
          {...{ agent, way, change }}
          onChanged={agents.reload}
          onClose={() => setQuery({ agent: undefined, way: undefined, change: undefined })}
        />
      )}
    </>
  );
}

function AgentList({ agents }: { readonly agents: readonly Agent[] }) {
  return (
    <ul class="agents">
      {agents.map((agent) => (
        <AgentCard key={agent.name} agent={agent} />
      ))}
    </ul>
  );
}
